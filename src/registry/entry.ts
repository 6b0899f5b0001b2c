import type { Rules } from '../contract/guard.ts'
import { ToolError } from '../contract/tool-error.ts'
import { defineTool } from '../define/tool.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import type { ToolEntry } from '../call/collect.ts'
import { toToolError } from '../call/failure.ts'
import { withRules } from '../call/rules.ts'
import type { FoundTool, Problem } from './found.ts'
import { guard } from './foreign/guard.ts'
import { keepNotes, notesOf } from './foreign/notes.ts'

/** A tool of a registry. `name` is what it is served and exported under, `id` always means this very tool. */
export type Entry = ToolEntry & {
  readonly id: string
  readonly found: FoundTool
  /** The id of the tool that the bare name means. */
  readonly shadowedBy?: string
}

/** What an entry is made of. */
export type EntryParts = {
  readonly id: string
  readonly name: string
  readonly found: FoundTool
  readonly shadowedBy?: string
}

/** Makes an entry whose definition is made when somebody needs it; what cannot be defined is told, and fails when it is called. */
export function makeEntry(
  { id, name, found, shadowedBy }: EntryParts,
  onProblem: (problem: Problem) => void,
  rules?: Rules,
): Entry {
  let definition: ToolDefinition | undefined
  const define = (): ToolDefinition => {
    try {
      const made = found.define(name, id)
      return under(
        rules,
        found.tier === 'in-process' || found.composed || made.facts.permissions
          ? made
          : guard(made, id),
      )
    } catch (thrown) {
      const error = toToolError(thrown)
      onProblem({
        source: found.source,
        location: found.location ?? id,
        reason: 'unusable',
        message: `'${id}' cannot be used: ${error.message}`,
        fix: error.suggestion?.fix ?? 'Mend what the tool says about itself',
        severity: 'error',
      })
      return unusable(name, found, error)
    }
  }
  return {
    id,
    name,
    path: [name],
    found,
    ...(shadowedBy !== undefined && { shadowedBy }),
    identity: { tool: id, ...(found.version !== undefined && { version: found.version }) },
    get definition() {
      return (definition ??= define())
    },
  }
}

function under(rules: Rules | undefined, definition: ToolDefinition): ToolDefinition {
  if (!rules) return definition
  const ruled = withRules(definition, rules)
  keepNotes(ruled, notesOf(definition))
  return ruled
}

function unusable(name: string, { summary }: FoundTool, error: ToolError): ToolDefinition {
  return defineTool({
    name,
    summary: summary.trim() === '' ? name : summary.slice(0, 200),
    input: { type: 'object', additionalProperties: true },
    run: () => {
      throw new ToolError('CONFIG', `the tool cannot be used: ${error.message}`, {
        cause: error,
        recoverable: false,
      })
    },
  })
}
