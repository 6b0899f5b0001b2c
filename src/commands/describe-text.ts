/**
 * The description of a tool for a person. Apart from describe.ts, because it loads the renderer of
 * help texts.
 */

import type { ResultRenderer } from '../cli/formats/envelope.ts'
import { cleanLine, createTextPainter } from '../cli/formats/terminal-text.ts'
import { renderToolHelp } from '../cli/help.ts'
import type { ToolDescription } from '../registry/types.ts'

const DEFAULT_COLUMNS = 100

/** A tool for a person: its help, then where it comes from. */
export const renderDescription: ResultRenderer = (result, { columns = DEFAULT_COLUMNS, color }) => {
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
  const paint = createTextPainter(color)
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
