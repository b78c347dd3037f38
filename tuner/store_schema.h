// The database's tables, and the triggers that keep untrustworthy rows from winning whatever program writes them.
#pragma once

namespace headtune {

/// Version 1. A change of meaning raises the number; a newer file is refused, an older one migrated.
inline constexpr int schema_version = 1;
/// PRAGMA application_id: "hdtu".
inline constexpr int application_id = 0x68647475;

extern const char* const schema_sql;

}  // namespace headtune
