import { isDeepStrictEqual } from 'node:util'
import { doubtful, failed, PASS } from '../check-type.ts'
import type { Check } from '../check-type.ts'
import { documentOf, ending, excerpt } from '../subject/parse-document.ts'
import type { Subject } from '../subject/subject.ts'

const WRITE_IT_WITH_TOOLABLE =
  'Write it with tool() and toolset(), or with a helper of emitters/, or put a manifest beside it: a line `toolable: {"name": ..., "summary": ..., "input": {...}}` in a comment near its top'

/** The reason for not looking further at a program that tells nothing. */
export function skipSilent({ speech }: Subject): string | undefined {
  return speech === 'nothing' ? 'it does not tell what it is' : undefined
}

/** It tells what it is. */
export const discovery: Check = {
  id: 'discovery',
  title: 'tells what it is, as JSON',
  weight: 30,
  run({ speech, discovery: ran }) {
    if (speech === 'discover' || speech === 'dump' || speech === 'multi-dump') return PASS
    if (speech === 'simple')
      return doubtful(
        'it answers the Simple JSON question, but shows no schema',
        'Answer --fractalic-dump-schema with {"description", "parameters"}, or --discover and --schema',
      )
    return failed(`--discover gave ${excerpt(ran)} (${ending(ran)})`, WRITE_IT_WITH_TOOLABLE)
  },
}

/** It has tools. */
export const hasTools: Check = {
  id: 'has-tools',
  title: 'has at least one tool',
  weight: 5,
  skip: skipSilent,
  run: ({ tools }) =>
    tools.length > 0 ? PASS : failed('its list of tools is empty', 'Add a tool'),
}

/** It says the same twice. */
export const deterministic: Check = {
  id: 'discovery-deterministic',
  title: 'describes itself the same way every time',
  weight: 3,
  skip: skipSilent,
  async run({ ask, discovery: first }) {
    const second = await ask(first.args, { again: true })
    return isDeepStrictEqual(documentOf(first)?.value, documentOf(second)?.value)
      ? PASS
      : failed(
          'two answers to the same question differ',
          'Leave times, random numbers and process ids out of discovery: hosts cache it',
        )
  },
}

const FAST = 6
const SLOW = 20
const FEWEST_PAIRS = 2
const MOST_PAIRS = 12

/** It says it quickly. */
export const discoveryTime: Check = {
  id: 'discovery-time',
  title: `describes itself within ${FAST} times the start of its interpreter`,
  weight: 5,
  turn: 'first',
  skip: skipSilent,
  async run(subject) {
    const ratio = await timesOfBareStart(subject)
    if (ratio <= FAST) return PASS
    const found = `it takes ${ratio.toFixed(1)} times as long as its interpreter alone`
    const fix =
      'Load heavy modules where they are used, not at the top, and answer questions about the tool before anything else'
    return ratio <= SLOW ? doubtful(found, fix) : failed(found, fix)
  },
}

// A busy machine is not the fault of the program: both are started in turn, so that they meet the same load, and while in doubt again, until each had a quiet moment.
async function timesOfBareStart({ ask, discovery: { args }, bareStart }: Subject): Promise<number> {
  let bare = Infinity
  let own = Infinity
  const ratio = (): number => own / Math.max(1, bare)
  for (
    let pairs = 0;
    pairs < FEWEST_PAIRS || (pairs < MOST_PAIRS && ratio() > FAST && ratio() <= 2 * SLOW);
    pairs++
  ) {
    bare = Math.min(bare, await bareStart())
    own = Math.min(own, (await ask(args, { again: true })).duration)
  }
  return ratio()
}
