import { parseEvent } from '../../../../runner/log/scan-log.ts'
import type { Standing } from './standing.ts'

const MATTERS =
  /"(?:runner_(?:start|end|log|error|warning)|action_required|error|result|cancelled|plan|artifact|start)"/g

/** Adds whole lines of a record to where its run stands. A flood must cost little: only lines that change something are parsed, and the last ones. */
export function takeLines(standing: Pick<Standing, 'add'>, text: string): void {
  const places = new Set<number>()
  MATTERS.lastIndex = 0
  for (let found = MATTERS.exec(text); found; found = MATTERS.exec(text)) {
    places.add(startOfLine(text, found.index))
    const end = text.indexOf('\n', found.index)
    if (end === -1) break
    MATTERS.lastIndex = end + 1
  }
  for (const place of [text.lastIndexOf('"progress"'), text.lastIndexOf('"log"'), text.length - 2])
    if (place >= 0) places.add(startOfLine(text, place))
  for (const from of [...places].sort((left, right) => left - right)) {
    const end = text.indexOf('\n', from)
    const event = parseEvent(text.slice(from, end === -1 ? undefined : end))
    if (event) standing.add(event)
  }
}

function startOfLine(text: string, place: number): number {
  return place === 0 ? 0 : text.lastIndexOf('\n', place - 1) + 1
}
