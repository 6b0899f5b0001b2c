import { compact } from '../../../../src/util/values.ts'
import type { TimeRange } from '../../../../src/views/model/timeline.ts'
import { replaceQuery, route } from '../../state/route.ts'

/**
 * What of a run is looked at: a step, and a stretch of time. The address holds both, the times as
 * milliseconds since the run was asked for.
 */
export type Selection = {
  readonly step?: string
  readonly range?: TimeRange
  readonly zoom?: TimeRange
}

/** What the address selects. */
export function readSelection(created: number): Selection {
  const { query } = route.value
  return compact({
    step: query.get('step') ?? undefined,
    range: readStretch(query.get('range'), created),
    zoom: readStretch(query.get('zoom'), created),
  })
}

/** Selects a step everywhere; the same one again selects none. */
export function selectStep(step: string | undefined): void {
  replaceQuery({ step: step === route.peek().query.get('step') ? undefined : step })
}

/** Selects a stretch of time everywhere, or, under `zoom`, shows only it. */
export function selectStretch(
  name: 'range' | 'zoom',
  stretch: TimeRange | undefined,
  created: number,
): void {
  replaceQuery({
    [name]: stretch && `${Math.floor(stretch.from - created)}-${Math.ceil(stretch.to - created)}`,
  })
}

function readStretch(text: string | null, created: number): TimeRange | undefined {
  const [, from, to] = /^(-?\d{1,15})-(-?\d{1,15})$/.exec(text ?? '') ?? []
  return from === undefined || to === undefined || Number(to) <= Number(from)
    ? undefined
    : { from: created + Number(from), to: created + Number(to) }
}
