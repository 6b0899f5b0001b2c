import { parseEvent } from '../../../../runner/log/scan-log.ts'
import { openGrownFile } from './grown-file.ts'

const LINE_FEED = 0x0a
const EVERY = 500

/** Where in a file of lines some of them begin, so that any of them is found by reading a few. */
export type LineIndex = {
  /** Learns what came since. */
  catchUp(): Promise<{
    readonly lines: number
    /** The number of the last event, in a record. */ readonly seq: number
    readonly end: number
  }>
  /** A place at or before a line, and which line begins there, from 1. */
  before(line: number): { readonly line: number; readonly offset: number }
  /** The same for an event of a record. */
  beforeEvent(seq: number): number
}

/** Begins to know a file. */
export function createLineIndex(path: string): LineIndex {
  // The first of each few hundred lines: its place, and its event where it is one.
  let offsets: number[] = []
  let seqs: number[] = []
  let lines = 0
  let seq = 0
  const file = openGrownFile(path, {
    forget() {
      offsets = []
      seqs = []
      lines = 0
      seq = 0
    },
    take(bytes, from) {
      for (let at = 0; at < bytes.length; lines += 1) {
        const next = bytes.indexOf(LINE_FEED, at) + 1
        if (lines % EVERY === 0) {
          offsets.push(from + at)
          seqs.push(seqOf(bytes, at, next) ?? seqs.at(-1) ?? 0)
        }
        at = next
      }
      seq = seqOf(bytes, bytes.lastIndexOf(LINE_FEED, bytes.length - 2) + 1, bytes.length) ?? seq
    },
  })
  return {
    async catchUp() {
      const end = await file.catchUp()
      return { lines, seq, end }
    },
    before(line) {
      const place = Math.max(0, Math.min(offsets.length - 1, Math.floor((line - 1) / EVERY)))
      return { line: place * EVERY + 1, offset: offsets[place] ?? 0 }
    },
    beforeEvent(wanted) {
      let [from, to] = [0, seqs.length]
      while (from < to) {
        const middle = (from + to) >>> 1
        if (seqs[middle]! <= wanted) from = middle + 1
        else to = middle
      }
      return offsets[Math.max(0, from - 1)] ?? 0
    },
  }
}

function seqOf(bytes: Buffer, from: number, to: number): number | undefined {
  return parseEvent(bytes.toString('utf8', from, to - 1))?.seq
}
