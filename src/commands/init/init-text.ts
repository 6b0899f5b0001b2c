import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import type { InitResult } from './init.ts'

/** What was written, and what to type next. */
export const renderInit: RenderResult = (result, { color }) => {
  const paint = createPaint(color)
  const { written, unchanged, next } = result as InitResult
  const rows = [
    ...written.map((path) => `${paint('green', 'written')}    ${cleanLine(path)}`),
    ...unchanged.map((path) => `${paint('dim', 'unchanged')}  ${cleanLine(path)}`),
  ]
  return [...rows, '', 'Next:', ...next.map((command) => `  ${cleanLine(command)}`), ''].join('\n')
}
