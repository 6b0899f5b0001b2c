import { isObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { unknownName } from '../../../contract/unknown-name.ts'
import { enter } from '../../../call/collect.ts'
import { loadEngine } from '../../../call/load-engine.ts'
import { tool } from '../../../call/tool.ts'
import { serveEntry } from '../source.ts'
import type { McpSource, ServedTool } from '../source.ts'
import { searchTools } from './search.ts'

const SHOWN = 10
const RUN = 'run_tool'

/** The same source behind three tools, so that a hundred tools cost an agent a few hundred tokens: find, describe, run. */
export function progressiveSource(source: McpSource): McpSource {
  const entries = [searchDoor(source), describeDoor(source), runDoor(source)].map((door) =>
    enter(door, []),
  )
  const served = entries.map((entry) =>
    entry.name === RUN ? asDangerousAs(source, serveEntry(entry)) : serveEntry(entry),
  )
  const identity = { toolset: source.name, version: source.version }
  return {
    ...source,
    get description() {
      return [
        source.description,
        `There are ${source.tools().length} tools: find one with search_tools, read its input with describe_tool, and run it with ${RUN}.`,
      ]
        .filter((text) => text !== undefined)
        .join('\n\n')
    },
    tools: () => served,
    // Who knows a name may call it as if it were listed.
    find: (name) => served.find((door) => door.name === name) ?? source.find(name),
    aim(tool, input) {
      const target = tool.name === RUN ? targetOf(input) : undefined
      return (target && source.find(target.name)) ?? tool
    },
    async call(name, input, options) {
      const door = entries.find((entry) => entry.name === name)
      if (!door) return source.call(name, input, options)
      const target = name === RUN ? targetOf(input) : undefined
      // The outcome of the tool itself, with its questions, events and errors: this door adds nothing.
      if (target && source.find(target.name)) return source.call(target.name, target.input, options)
      return (await (await loadEngine()).invoke(door.definition, input, options, identity)).outcome
    },
  }
}

// Hosts approve calls by what they can see, and behind this door stands every tool that there is now.
function asDangerousAs(source: McpSource, door: ServedTool): ServedTool {
  return {
    ...door,
    get facts() {
      return {
        ...door.facts,
        annotations: {
          destructive: source.tools().some(({ facts }) => facts.annotations.destructive === true),
        },
      }
    },
  }
}

function targetOf(input: unknown): { readonly name: string; readonly input: unknown } | undefined {
  const {
    name,
    input: given,
    arguments: alias,
    ...others
  } = input as { readonly [key: string]: unknown }
  // Models often say `arguments`, as the protocol does. Anything else is for the schema to refuse: a tool must not run on half of what was said.
  const meant = given === undefined ? (alias ?? {}) : given
  const fits =
    Object.keys(others).length === 0 &&
    isObject(meant) &&
    (given === undefined || alias === undefined)
  return typeof name === 'string' && fits ? { name, input: meant } : undefined
}

function unknown(name: string, source: McpSource): ToolError {
  const { message, meant } = unknownName(
    'tool',
    name,
    source.tools().map((candidate) => candidate.name),
  )
  return new ToolError('NOT_FOUND', message, {
    suggestion: {
      action: 'use_different_tool',
      fix: meant ? `Use '${meant}'` : 'Look for one with search_tools',
    },
  })
}

function searchDoor(source: McpSource) {
  return tool({
    name: 'search_tools',
    summary: 'Find tools by what they do; gives names and summaries, best first',
    input: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'Words that say what is to be done; empty lists all',
        },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: SHOWN },
      },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnly: true },
    run({ query, limit }) {
      const found = searchTools(source.tools(), String(query), Number(limit))
      return {
        tools: found.map(({ name, facts }) => ({
          name,
          summary: facts.summary,
          ...(facts.annotations.destructive && { destructive: true }),
        })),
        total: source.tools().length,
      }
    },
  })
}

function describeDoor(source: McpSource) {
  return tool({
    name: 'describe_tool',
    summary:
      'Show how a tool is called: its input schema, what it gives, examples, and what it may change',
    input: {
      type: 'object',
      properties: { name: { type: 'string', description: 'A name that search_tools gave' } },
      required: ['name'],
      additionalProperties: false,
    },
    annotations: { readOnly: true },
    async run({ name }) {
      const found = source.find(String(name))
      if (!found) throw unknown(String(name), source)
      const { description, summary, inputSchema, outputSchema, annotations, examples } =
        await found.manifest()
      return {
        name: found.name,
        description: description === undefined ? summary : `${summary}\n\n${description}`,
        input_schema: found.written().input ?? inputSchema,
        ...(outputSchema && { output_schema: outputSchema }),
        ...(Object.keys(annotations).length > 0 && { annotations }),
        ...(examples.length > 0 && { examples: examples.slice(0, 3) }),
      }
    },
  })
}

function runDoor(source: McpSource) {
  return tool({
    name: RUN,
    summary: 'Run a tool by its name',
    input: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'A name that search_tools gave' },
        input: { type: 'object', description: 'What describe_tool says the tool takes' },
      },
      required: ['name'],
      additionalProperties: false,
    },
    run({ name }) {
      throw unknown(String(name), source)
    },
  })
}
