import type { DocModel, DocTool } from '../model/model.ts'
import { bullets } from '../markdown/blocks.ts'
import { code } from '../markdown/inline.ts'

const MOST_NAMED = 8

/** What has to be kept in mind before some of the tools are called; empty where there is nothing. At most so many of each sort are named. */
export function rulesSection({ tools }: DocModel, mostNamed = MOST_NAMED): string {
  const named = (which: (tool: DocTool) => boolean): string | undefined =>
    nameTools(tools.filter(which), mostNamed)
  const destructive = named((tool) => tool.destructive)
  const readOnly = named((tool) => tool.readOnly && !tool.destructive)
  const session = named((tool) => tool.session)
  const streaming = named((tool) => tool.streaming)
  return bullets([
    ...(destructive === undefined
      ? []
      : [
          `Destructive: ${destructive}. First call with ${code('--dry-run')} and show the user what would be done. Add ${code('--yes')} only when the user has agreed to exactly that; without it the call fails with ${code('CONFIRMATION_REQUIRED')}.`,
        ]),
    ...(readOnly === undefined ? [] : [`Change nothing, safe to call at any time: ${readOnly}.`]),
    ...(session === undefined
      ? []
      : [
          `Ask questions while they run: ${session}. ${code('--session')} takes the answers as JSON lines on stdin.`,
        ]),
    ...(streaming === undefined
      ? []
      : [
          `Report while they run: ${streaming}. ${code('--stream')} prints events as JSON lines; the last one is the result.`,
        ]),
  ])
}

/** The rule of one tool, in a sentence; undefined for a tool that needs none. */
export function ruleOf(tool: DocTool): string | undefined {
  if (tool.destructive)
    return `Destructive: call it with ${code('--dry-run')} first; ${code('--yes')} only when the user has agreed.`
  return tool.readOnly ? 'Changes nothing.' : undefined
}

function nameTools(tools: readonly DocTool[], most: number): string | undefined {
  if (tools.length === 0) return undefined
  if (most === 0) return `${tools.length} commands, as their help says`
  const names = tools
    .slice(0, most)
    .map(({ command }) => code(command))
    .join(', ')
  return tools.length > most
    ? `${names} and ${tools.length - most} more, as their help says`
    : names
}
