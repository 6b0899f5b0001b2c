import type { JsonObject } from '../../../contract/json.ts'
import { describeEntry } from '../../../registry/describe.ts'
import type { Entry } from '../../../registry/entry.ts'
import { toMcp } from '../../../registry/provide.ts'
import type { Registry } from '../../../registry/registry-type.ts'
import { renderToolHelp } from '../../../surfaces/cli/help/tool-help.ts'
import { writeSkill } from '../../../surfaces/docs/kinds/skill/skill.ts'
import { readProgram } from '../../../surfaces/docs/model/read-program.ts'
import type { ToolDetail } from '../../../views/model/wire/tools.ts'
import { oneToolView } from '../../call/one-tool-view.ts'
import { dryRunWayOf } from '../../run/consent.ts'
import type { ToolStatistics } from './statistics.ts'
import { recordedName, toolRow } from './tool-rows.ts'

/** How wide help is where nobody says. */
const COLUMNS = 100

/** One tool in its four forms: for the command line, as JSON Schema, for MCP, and as a skill. Throws CONFIG where its schemas cannot be used. */
export async function describeTool(
  registry: Registry,
  entry: Entry,
  statisticsOf: (tool: string) => ToolStatistics,
): Promise<ToolDetail> {
  await registry.prepare?.()
  const { manifest, notes = [] } = await describeEntry(entry)
  const { description, inputSchema, outputSchema, examples, errors, permissions, annotations } =
    manifest
  const [mcp] = await toMcp([entry])
  return {
    row: toolRow(registry, entry, statisticsOf),
    ...(description !== undefined && { description }),
    help: await helpOf(registry, entry),
    input_schema: inputSchema,
    ...(outputSchema && { output_schema: outputSchema }),
    mcp: mcp as unknown as JsonObject,
    skill: await skillOf(registry, entry),
    examples: examples.map(({ description: words, input, args }) => ({
      ...(words !== undefined && { description: words }),
      ...(input && { input }),
      ...(args && { args }),
    })),
    errors: Object.entries(errors).map(([code, { message }]) => ({ code, description: message })),
    ...(permissions && { permissions }),
    notes,
    dry_run: (await dryRunWayOf(entry, await programOf(entry))) !== undefined,
    destructive: annotations.destructive === true,
    recent: statisticsOf(recordedName(entry)).recent,
  }
}

// As `toolable call <tool> --help` prints it where nobody looks at a terminal.
async function helpOf(registry: Registry, entry: Entry): Promise<string> {
  const manifest = await oneToolView(registry, entry).sketch()
  return renderToolHelp(manifest, manifest.tools[0]!, {
    columns: COLUMNS,
    color: false,
    single: false,
  })
}

// Of a program whose only tool it is, so that every command in it is one that works.
async function skillOf(registry: Registry, entry: Entry): Promise<string> {
  const manifest = await oneToolView(registry, entry).manifest()
  const [tool] = manifest.tools
  const model = readProgram({
    ...manifest,
    name: `toolable call ${entry.name}`,
    tools: [{ ...tool!, path: [] }],
  })
  return writeSkill({ ...model, unmarked: true })[0]!.text
}

// One whose file changed meanwhile is told about when it is started.
async function programOf({
  found,
}: Entry): Promise<Awaited<ReturnType<NonNullable<Entry['found']['program']>>> | undefined> {
  return found.program?.().catch(() => undefined)
}
