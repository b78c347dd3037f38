#include "tuner/store_schema.h"

namespace headtune {

const char* const schema_sql = R"sql(
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  provider TEXT NOT NULL, arch TEXT NOT NULL, features TEXT NOT NULL,
  cu_count INTEGER NOT NULL, wave_size INTEGER NOT NULL, lds_bytes INTEGER NOT NULL,
  driver TEXT NOT NULL, runtime TEXT NOT NULL, compiler TEXT NOT NULL,
  estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
  device_name TEXT NOT NULL,  -- shown, never keyed: one GPU has had three marketing names
  UNIQUE (provider, arch, features, cu_count, wave_size, lds_bytes, driver, runtime, compiler, estimated)
);

CREATE TABLE problem (
  id INTEGER PRIMARY KEY,
  op TEXT NOT NULL,
  head_dim INTEGER NOT NULL, v_head_dim INTEGER NOT NULL, num_q_heads INTEGER NOT NULL, num_kv_heads INTEGER NOT NULL,
  extend_len INTEGER NOT NULL, is_causal INTEGER NOT NULL, dtype TEXT NOT NULL, kv_dtype TEXT NOT NULL,
  UNIQUE (op, head_dim, v_head_dim, num_q_heads, num_kv_heads, extend_len, is_causal, dtype, kv_dtype)
);

CREATE TABLE variant (
  id INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environment,
  problem_id INTEGER NOT NULL REFERENCES problem,
  config TEXT NOT NULL,         -- JSON: knob -> value
  defines TEXT NOT NULL,        -- every constant that reaches the compiler; part of the key
  template_hash TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('compile_error', 'compile_crashed', 'compile_timed_out', 'compiled',
    'verify_failed', 'crashed', 'timed_out', 'device_fault', 'unavailable', 'verified', 'outraced', 'timed')),
  reason TEXT NOT NULL,
  resources TEXT NOT NULL,      -- JSON: kernel -> registers, LDS, spills
  registers INTEGER NOT NULL,   -- of the hungriest kernel
  compile_seconds REAL NOT NULL,
  verify_error REAL,
  verify_tolerance REAL,
  UNIQUE (environment_id, problem_id, defines, template_hash),
  CHECK (status NOT IN ('verified', 'outraced', 'timed') OR (verify_error IS NOT NULL AND verify_tolerance IS NOT NULL
    AND verify_error >= 0 AND verify_error <= verify_tolerance AND template_hash <> ''))
);

CREATE TABLE timing (
  id INTEGER PRIMARY KEY,
  variant_id INTEGER NOT NULL REFERENCES variant ON DELETE CASCADE,
  context INTEGER NOT NULL, batch INTEGER NOT NULL,
  method TEXT NOT NULL,
  median_us REAL NOT NULL CHECK (median_us > 0 AND median_us < 1e12),
  low_us REAL NOT NULL CHECK (low_us > 0 AND low_us <= median_us),
  high_us REAL NOT NULL CHECK (high_us >= median_us AND high_us < 1e12),
  samples INTEGER NOT NULL CHECK (samples > 0),
  floor_bytes INTEGER NOT NULL,
  clock_mhz INTEGER NOT NULL,   -- 0: not readable
  flags TEXT NOT NULL,          -- words: unsettled drift wide launch_overhead throttled
  estimated INTEGER NOT NULL CHECK (estimated IN (0, 1)),
  raw TEXT NOT NULL,            -- JSON: every sample
  counters TEXT NOT NULL,       -- JSON: instructions, cache lines, bank conflicts; {} on real devices
  UNIQUE (variant_id, context, batch)
);

CREATE TABLE winner (
  variant_id INTEGER NOT NULL REFERENCES variant ON DELETE CASCADE,
  context_min INTEGER NOT NULL, context_max INTEGER NOT NULL CHECK (context_max >= context_min),
  reason TEXT NOT NULL,
  PRIMARY KEY (variant_id, context_min, context_max)
);

CREATE TABLE space (            -- what the last sweep of a problem looked at
  environment_id INTEGER NOT NULL REFERENCES environment,
  problem_id INTEGER NOT NULL REFERENCES problem,
  legal INTEGER NOT NULL CHECK (legal > 0),  -- configurations that may be compiled
  search TEXT NOT NULL,                      -- 'exhaustive', 'guided, seed 1, budget 30'
  PRIMARY KEY (environment_id, problem_id)
);

CREATE TABLE pruned (           -- configurations that may not, by reason: they come in thousands
  environment_id INTEGER NOT NULL REFERENCES environment,
  problem_id INTEGER NOT NULL REFERENCES problem,
  reason TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  example TEXT NOT NULL,        -- JSON: knob -> value of one of them
  PRIMARY KEY (environment_id, problem_id, reason)
);

CREATE TABLE retiming (         -- a winner in one race with itself as a user of its table row runs it
  variant_id INTEGER NOT NULL REFERENCES variant ON DELETE CASCADE,
  context INTEGER NOT NULL, batch INTEGER NOT NULL,
  swept_us REAL NOT NULL, swept_low_us REAL NOT NULL, swept_high_us REAL NOT NULL,
  table_us REAL NOT NULL, table_low_us REAL NOT NULL, table_high_us REAL NOT NULL,
  PRIMARY KEY (variant_id, context, batch)
);

CREATE TABLE extend_below (     -- prefixes for which a winner is slower than extend_attention
  variant_id INTEGER NOT NULL REFERENCES variant ON DELETE CASCADE,
  batch INTEGER NOT NULL,
  keys INTEGER NOT NULL CHECK (keys >= 0),  -- shorter than this; 0: none
  PRIMARY KEY (variant_id, batch)
);

CREATE VIEW moving AS           -- times taken while the device had not settled, or that still had a trend
SELECT variant_id, context, batch FROM timing
WHERE ' ' || flags || ' ' LIKE '% unsettled %' OR ' ' || flags || ' ' LIKE '% drift %';

CREATE VIEW proof AS  -- what the triggers below ask about a variant
SELECT v.id AS variant_id, v.status, v.verify_error, v.verify_tolerance, v.problem_id, v.environment_id,
       e.arch, e.cu_count, e.wave_size, e.estimated
FROM variant v JOIN environment e ON e.id = v.environment_id;

CREATE TRIGGER timing_needs_verification BEFORE INSERT ON timing
WHEN (SELECT status FROM proof WHERE variant_id = NEW.variant_id) NOT IN ('verified', 'outraced', 'timed')
BEGIN SELECT RAISE(ABORT, 'only verified variants may be timed'); END;

CREATE TRIGGER timing_keeps_its_kind BEFORE INSERT ON timing
WHEN (SELECT estimated FROM proof WHERE variant_id = NEW.variant_id) <> NEW.estimated
BEGIN SELECT RAISE(ABORT, 'estimated and measured times do not mix'); END;

CREATE TRIGGER timing_is_final BEFORE UPDATE ON timing
BEGIN SELECT RAISE(ABORT, 'a time is written once; delete it and time again'); END;

CREATE TRIGGER environment_is_final BEFORE UPDATE OF estimated, provider, arch, cu_count, wave_size ON environment
BEGIN SELECT RAISE(ABORT, 'an environment does not change'); END;

CREATE TRIGGER failure_is_final BEFORE UPDATE OF status ON variant
WHEN OLD.status IN ('compile_error', 'compile_crashed', 'compile_timed_out', 'verify_failed', 'crashed',
                    'timed_out', 'device_fault', 'unavailable')
  AND NEW.status IN ('verified', 'outraced', 'timed')
BEGIN SELECT RAISE(ABORT, 'a failed variant must be run again, not promoted'); END;

CREATE TRIGGER verification_is_final BEFORE UPDATE OF verify_error, verify_tolerance ON variant
WHEN OLD.verify_error IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a verification is written once; run the variant again'); END;

CREATE TRIGGER winner_needs_proof BEFORE INSERT ON winner
WHEN (SELECT status FROM proof WHERE variant_id = NEW.variant_id) IS NOT 'timed'
  OR NOT EXISTS (SELECT 1 FROM timing WHERE variant_id = NEW.variant_id
                 AND context BETWEEN NEW.context_min AND NEW.context_max)
BEGIN SELECT RAISE(ABORT, 'only a verified and timed variant may win'); END;

CREATE TRIGGER winner_is_settled BEFORE INSERT ON winner
WHEN EXISTS (SELECT 1 FROM moving WHERE variant_id = NEW.variant_id
             AND context BETWEEN NEW.context_min AND NEW.context_max)
BEGIN SELECT RAISE(ABORT, 'a time that was still moving cannot win: time the variant again'); END;

CREATE TRIGGER moving_dethrones AFTER INSERT ON timing
WHEN EXISTS (SELECT 1 FROM moving WHERE variant_id = NEW.variant_id AND context = NEW.context AND batch = NEW.batch)
BEGIN
  DELETE FROM winner
  WHERE variant_id = NEW.variant_id AND NEW.context BETWEEN context_min AND context_max;
END;

CREATE TRIGGER winner_is_final BEFORE UPDATE ON winner
BEGIN SELECT RAISE(ABORT, 'a winner is replaced, not changed'); END;

CREATE TRIGGER winner_is_measured BEFORE INSERT ON winner
WHEN EXISTS (
  SELECT 1 FROM proof mine JOIN proof theirs
    ON theirs.problem_id = mine.problem_id AND theirs.arch = mine.arch AND theirs.cu_count = mine.cu_count
    AND theirs.wave_size = mine.wave_size AND theirs.estimated = 0 AND theirs.status = 'timed'
  WHERE mine.variant_id = NEW.variant_id AND mine.estimated = 1)
BEGIN SELECT RAISE(ABORT, 'an estimate cannot win beside measured times of the same device'); END;

CREATE TRIGGER measured_dethrones_estimated AFTER INSERT ON timing WHEN NEW.estimated = 0
BEGIN
  DELETE FROM winner WHERE variant_id IN (
    SELECT theirs.variant_id FROM proof mine JOIN proof theirs
      ON theirs.problem_id = mine.problem_id AND theirs.arch = mine.arch AND theirs.cu_count = mine.cu_count
      AND theirs.wave_size = mine.wave_size AND theirs.estimated = 1
    WHERE mine.variant_id = NEW.variant_id);
END;

CREATE TRIGGER retiming_follows AFTER INSERT ON timing
BEGIN DELETE FROM retiming WHERE variant_id = NEW.variant_id AND context = NEW.context AND batch = NEW.batch; END;

CREATE TRIGGER demotion_dethrones AFTER UPDATE OF status ON variant WHEN NEW.status <> 'timed'
BEGIN DELETE FROM winner WHERE variant_id = NEW.id; END;

CREATE TRIGGER untimed_dethrones AFTER DELETE ON timing
WHEN NOT EXISTS (SELECT 1 FROM timing WHERE variant_id = OLD.variant_id)
BEGIN DELETE FROM winner WHERE variant_id = OLD.variant_id; END;
)sql";

}  // namespace headtune
