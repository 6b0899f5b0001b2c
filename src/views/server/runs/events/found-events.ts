import { parseEvent } from '../../../../runner/log/scan-log.ts'
import { startSlices } from '../slices.ts'
import type { EventFilter } from './event-filter.ts'
import { openGrownFile } from './grown-file.ts'

const LINE_FEED = 0x0a
const MOST = 500_000

/** Where the events of a record are that fit a filter. */
export type FoundEvents = {
  catchUp(): Promise<void>
  readonly count: number
  /** The place in the list of the first that has this number or a higher one. */
  placeOf(seq: number): number
  /** One of the list. */
  at(place: number): { readonly seq: number; readonly offset: number; readonly length: number }
}

/** Begins to look for events; each line is looked at once. */
export function findEvents(path: string, filter: EventFilter): FoundEvents {
  let seqs: number[] = []
  let offsets: number[] = []
  let lengths: number[] = []
  const file = openGrownFile(path, {
    forget: () => {
      ;[seqs, offsets, lengths] = [[], [], []]
    },
    async take(bytes, from) {
      const slices = startSlices()
      for (let at = 0; at < bytes.length && seqs.length < MOST;) {
        const to = bytes.indexOf(LINE_FEED, at)
        const line = bytes.toString('utf8', at, to)
        const event = filter.mayFit(line) ? parseEvent(line) : undefined
        if (event && filter.fits(event)) {
          seqs.push(event.seq)
          offsets.push(from + at)
          lengths.push(to - at)
        }
        at = to + 1
        if (slices.used) await slices.rest()
      }
    },
  })
  return {
    async catchUp() {
      await file.catchUp()
    },
    get count() {
      return seqs.length
    },
    placeOf(wanted) {
      let [from, to] = [0, seqs.length]
      while (from < to) {
        const middle = (from + to) >>> 1
        if (seqs[middle]! < wanted) from = middle + 1
        else to = middle
      }
      return from
    },
    at: (place) => ({ seq: seqs[place]!, offset: offsets[place]!, length: lengths[place]! }),
  }
}
