import { parseObject } from '../../../../contract/json.ts'
import type { BeginRecord, EndState } from '../journal/record.ts'

/** An execution as the index knows it. */
export type Listed = {
  /** Its id. */
  readonly w: string
  /** The name of its workflow. */
  readonly n: string
  readonly h: string
  readonly at: string
  /** The segment that it is in. */
  readonly j: string
  /** How it ended: `moved` where it goes on as a run of its own. */
  readonly s?: EndState | 'moved'
  readonly end?: string
}

/** So much of a segment is in the index, counted in bytes. A gap between two of them means that lines were lost. */
export type Covered = { readonly j: string; readonly from: number; readonly to: number }

/** The line of an execution, which begins with its id, at a fixed place. */
export function writeListed(
  { w, n, h, at }: Pick<BeginRecord, 'w' | 'n' | 'h' | 'at'>,
  segment: string,
  end?: { readonly s: EndState | 'moved'; readonly at: string },
): string {
  return `{"w":"${w}","n":${JSON.stringify(n)},"h":"${h}","at":"${at}","j":"${segment}"${end ? `,"s":"${end.s}","end":"${end.at}"` : ''}}\n`
}

/** The line that says how far a segment is covered. */
export function writeCovered({ j, from, to }: Covered): string {
  return `{"j":"${j}","from":${from},"to":${to}}\n`
}

/** What an index says of each execution, with how it ended where it did, and how much of each segment it knows; undefined where it is torn. */
export function readIndex(
  text: string,
): { readonly listed: Map<string, Listed>; readonly covered: Map<string, number> } | undefined {
  const listed = new Map<string, Listed>()
  const ranges: Covered[] = []
  // From the end: the last line of an execution says everything, and the one before it need not be read.
  for (let to = text.length - 1; to > 0;) {
    const from = text.lastIndexOf('\n', to - 1) + 1
    if (text.startsWith(OF_EXECUTION, from)) {
      const id = text.slice(from + OF_EXECUTION.length, from + OF_EXECUTION.length + ID_LENGTH)
      if (!listed.has(id)) {
        const value = parseObject(text.slice(from, to)) as Listed | undefined
        if (value?.w !== id) return undefined
        listed.set(id, value)
      }
    } else {
      const value = parseObject(text.slice(from, to)) as Covered | undefined
      if (
        typeof value?.j !== 'string' ||
        !Number.isSafeInteger(value.from) ||
        !Number.isSafeInteger(value.to)
      )
        return undefined
      ranges.push(value)
    }
    to = from - 1
  }
  return text === '' || text.endsWith('\n') ? { listed, covered: join(ranges) } : undefined
}

const OF_EXECUTION = '{"w":"'
const ID_LENGTH = 12

// What stands behind a gap is read again from the segment.
function join(ranges: readonly Covered[]): Map<string, number> {
  const covered = new Map<string, number>()
  for (const { j, from, to } of [...ranges].sort((left, right) => left.from - right.from)) {
    const known = covered.get(j) ?? 0
    if (from <= known && to > known) covered.set(j, to)
  }
  return covered
}
