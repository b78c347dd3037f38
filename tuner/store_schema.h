// The database's tables, and the triggers that keep untrustworthy rows from winning whatever program writes them.
#pragma once

namespace headtune {

/// A change of meaning raises the number; files of any other number are refused. Version 2: pruned configurations are
/// counted, not listed; moving times cannot win; winners are timed again through their table row.
inline constexpr int schema_version = 3;
/// PRAGMA application_id: "hdtu".
inline constexpr int application_id = 0x68647475;

extern const char* const schema_sql;

}  // namespace headtune
