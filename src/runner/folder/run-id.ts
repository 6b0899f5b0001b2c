import { closest } from '../../contract/did-you-mean.ts'
import { ToolError } from '../../contract/tool-error.ts'

const RUN_ID = /^r-[0-9a-f]{10}$/
const PREFIX = /^(?:r-?)?([0-9a-f]{0,10})$/

const DIGITS = 10
let chance = ''

/** A new id: `r-` and ten digits of chance. */
export function newRunId(): string {
  // Asked for a few at a time, it costs more than all the rest of an id.
  if (chance.length < DIGITS)
    chance = Buffer.from(crypto.getRandomValues(new Uint8Array(100 * DIGITS))).toString('hex')
  const digits = chance.slice(-DIGITS)
  chance = chance.slice(0, -DIGITS)
  return `r-${digits}`
}

/** True for what can be the id of a run, and so the name of its folder. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text)
}

/** The id, or the beginning of it, that a word means, with its `r-`. Throws INVALID_INPUT for anything else: what passes here becomes part of a path. */
export function readRunWord(word: string): string {
  const digits = PREFIX.exec(word)?.[1]
  if (digits) return `r-${digits}`
  const meant = closest(word, ['latest'])
  throw new ToolError(
    'INVALID_INPUT',
    `'${word.slice(0, 100)}' is not the id of a run${meant ? `; did you mean '${meant}'?` : ': ids look like r-0123456789'}`,
    { field: 'run', suggestion: meant ? `Use '${meant}'` : 'toolable runs list' },
  )
}
