import type { Built } from '../../build/build-program.ts'
import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'

/** The files of a built program, and what to know about it. */
export const renderBuild: RenderResult = (result, { color }) => {
  const paint = createPaint(color)
  const { name, version, tools, files, warnings } = result as Built
  return [
    `${paint('bold', cleanLine(name))} ${cleanLine(version)}, ${tools === 1 ? '1 tool' : `${tools} tools`}`,
    ...files.map((file) => `${paint('green', 'written')}  ${cleanLine(file)}`),
    ...warnings.map((warning) => `${paint('yellow', 'warning')}  ${warning}`),
    '',
  ].join('\n')
}
