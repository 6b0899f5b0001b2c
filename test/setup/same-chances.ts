import fc from 'fast-check'

// Whether a commit is good must not depend on luck: what is drawn by chance is drawn alike in every
// run. `TEST_SEED=random` draws anew, for an afternoon of looking for what nobody has thought of.
const { TEST_SEED: seed = '20261117' } = process.env
if (seed !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
