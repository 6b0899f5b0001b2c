import type { ToolDescription } from '../../registry/registry-type.ts'
import { renderToolHelp } from '../../surfaces/cli/help/tool-help.ts'
import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'

const WIDEST = 100

/** A tool for a person: its help, then where it comes from. */
export const renderDescription: RenderResult = (result, { columns = WIDEST, color }) => {
  const {
    manifest,
    id,
    kind,
    tier,
    location,
    original_name,
    shadowed_by,
    notes = [],
  } = result as ToolDescription
  const tool = { ...manifest, path: ['call', manifest.name] }
  const help = renderToolHelp(
    { name: 'toolable', version: '', tools: [tool], resources: [], prompts: [] },
    tool,
    { columns, color, single: false },
  )
  const paint = createPaint(color)
  const facts = [
    ['id', id],
    ['kind', kind],
    ['tier', tier],
    ['location', location],
    ['its own name', original_name],
    ['behind', shadowed_by],
    ...notes.map((note) => ['note', note]),
  ]
  const origin = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${paint('cyan', `${name!}:`.padEnd(14))} ${cleanLine(value)}`],
  )
  return `${help}\n${[paint('bold', 'Origin'), ...origin].join('\n')}\n`
}
