import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import { renderTable } from '../../surfaces/cli/output/text/table.ts'
import type { Diagnosis } from './doctor.ts'

const MEANING = {
  L1: 'L1: environment, limits, time and output are held; files and servers are not',
  L2: 'L2',
  L3: 'L3: files, servers, processes, system calls and limits are held',
} as const

/** The diagnosis for a person: a table, then every fix once, last the level. */
export const renderDiagnosis: RenderResult = (result, { columns, color }) => {
  const paint = createPaint(color)
  const { level, wanted, enough, findings } = result as Diagnosis
  const rows = findings.map(({ id, status, found }) => ({
    what: id,
    status,
    found: cleanLine(found),
  }))
  const fixes = [
    ...new Set(
      findings.flatMap(({ status, fix }) =>
        status === 'ok' || fix === undefined ? [] : [cleanLine(fix)],
      ),
    ),
  ]
  const isReached = wanted === undefined || level >= wanted
  return [
    ...renderTable(rows, { columns, paint }),
    '',
    ...fixes.flatMap((fix) => [`${paint('cyan', 'fix:')} ${fix}`]),
    ...(fixes.length > 0 ? [''] : []),
    `${paint(enough ? 'green' : 'red', MEANING[level])}${isReached ? '' : ` (${wanted} wanted)`}`,
    '',
  ].join('\n')
}
