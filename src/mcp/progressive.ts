/**
 * Serves many tools behind three: search, describe and run.
 */

import type { Servable } from '../core/provider.ts'
import { createEntry } from '../core/provider.ts'
import { invokeTool, tool } from '../core/tool.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { McpSource, ServedTool } from './source.ts'
import { createToolsetSource, toServedTool } from './source.ts'

export type McpSourceOptions = {
  /**
   * Lists three tools for finding and running the others; default: when there are more than thirty.
   */
  readonly progressive?: boolean
}

const PROGRESSIVE_ABOVE_TOOLS = 30

/** What is served of a toolset. */
export function createMcpSource(
  set: Servable,
  { progressive = set.entries.length > PROGRESSIVE_ABOVE_TOOLS }: McpSourceOptions,
): McpSource {
  const source = createToolsetSource(set)
  return progressive ? createProgressiveSource(source) : source
}

const DEFAULT_SEARCH_LIMIT = 10
const RUN_TOOL_NAME = 'run_tool'

/**
 * The same source through three tools, so that a hundred tools cost an agent a few hundred tokens:
 * find, describe, run.
 */
export function createProgressiveSource(source: McpSource): McpSource {
  const entries = [createSearchTool(source), createDescribeTool(source), createRunTool(source)].map(
    (each) => createEntry(each),
  )
  const served = entries.map((entry) =>
    entry.name === RUN_TOOL_NAME
      ? withWorstAnnotations(source, toServedTool(entry))
      : toServedTool(entry),
  )
  const identity = { toolset: source.set.name, version: source.set.version }
  return {
    ...source,
    get description() {
      return [
        source.description,
        `There are ${source.tools().length} tools: find one with search_tools, read its input with describe_tool, and run it with ${RUN_TOOL_NAME}.`,
      ]
        .filter((text) => text !== undefined)
        .join('\n\n')
    },
    tools: () => served,
    // A client that knows a name may call it as if it were listed.
    find: (name) => served.find((each) => each.name === name) ?? source.find(name),
    resolveTarget(tool, input) {
      const target = tool.name === RUN_TOOL_NAME ? getRunTarget(input) : undefined
      return (target && source.find(target.name)) ?? tool
    },
    async call(name, input, options) {
      const own = entries.find((entry) => entry.name === name)
      if (!own) return source.call(name, input, options)
      const target = name === RUN_TOOL_NAME ? getRunTarget(input) : undefined
      // The outcome of the tool itself, with its questions, events and errors.
      if (target && source.find(target.name)) return source.call(target.name, target.input, options)
      return (await invokeTool(own.definition, input, options, identity)).outcome
    },
  }
}

// Hosts approve calls by what they can see, and this one may call any tool.
function withWorstAnnotations(source: McpSource, tool: ServedTool): ServedTool {
  return {
    ...tool,
    get facts() {
      return {
        ...tool.facts,
        annotations: {
          destructive: source.tools().some(({ facts }) => facts.annotations.destructive === true),
        },
      }
    },
  }
}

function getRunTarget(
  input: unknown,
): { readonly name: string; readonly input: unknown } | undefined {
  const {
    name,
    input: given,
    arguments: alias,
    ...others
  } = input as { readonly [key: string]: unknown }
  // Models often say `arguments`, as the protocol does. Anything else is for the schema to refuse:
  // a tool must not run on half of what was said.
  const meant = given === undefined ? (alias ?? {}) : given
  const fits =
    Object.keys(others).length === 0 &&
    isObject(meant) &&
    (given === undefined || alias === undefined)
  return typeof name === 'string' && fits ? { name, input: meant } : undefined
}

function unknownToolError(name: string, source: McpSource): ToolError {
  const { message, meant } = describeUnknownName(
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

function createSearchTool(source: McpSource) {
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
        limit: { type: 'integer', minimum: 1, maximum: 100, default: DEFAULT_SEARCH_LIMIT },
      },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnly: true },
    run({ query, limit }) {
      const found = searchTools(source.tools(), String(query), Number(limit))
      return {
        tools: found.map(({ name, facts }) =>
          compact({
            name,
            summary: facts.summary,
            destructive: facts.annotations.destructive ? true : undefined,
          }),
        ),
        total: source.tools().length,
      }
    },
  })
}

function createDescribeTool(source: McpSource) {
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
      if (!found) throw unknownToolError(String(name), source)
      const { description, summary, inputSchema, outputSchema, annotations, examples } =
        await found.manifest()
      return compact({
        name: found.name,
        description: description === undefined ? summary : `${summary}\n\n${description}`,
        input_schema: found.written().input ?? inputSchema,
        output_schema: outputSchema,
        annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
        examples: examples.length > 0 ? examples.slice(0, 3) : undefined,
      })
    },
  })
}

function createRunTool(source: McpSource) {
  return tool({
    name: RUN_TOOL_NAME,
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
      throw unknownToolError(String(name), source)
    },
  })
}

// Saturation and length as in BM25, with its usual constants.
const SATURATION = 1.2
const LENGTH_PENALTY = 0.75

/** A tool with its words, each as often as its field weighs. */
type SearchDocument = {
  readonly tool: ServedTool
  readonly fields: readonly SearchField[]
  readonly length: number
}
type SearchField = { readonly weight: number; readonly words: readonly string[] }

/** The tools that fit a query best, best first; all of them in their order for an empty query. */
function searchTools(
  tools: readonly ServedTool[],
  query: string,
  limit: number,
): readonly ServedTool[] {
  const wanted = [...new Set(splitWords(query))]
  if (wanted.length === 0) return tools.slice(0, limit)
  const documents = tools.map(toSearchDocument)
  const average = documents.reduce((sum, { length }) => sum + length, 0) / Math.max(1, tools.length)
  const scores = new Map<ServedTool, number>()
  for (const word of wanted) {
    const counted = documents.map((document) => ({ ...document, count: countWord(word, document) }))
    const having = counted.filter(({ count }) => count > 0)
    const rarity = Math.log(1 + (tools.length - having.length + 0.5) / (having.length + 0.5))
    for (const { tool, length, count } of having) {
      const penalty = 1 - LENGTH_PENALTY + LENGTH_PENALTY * (length / Math.max(1, average))
      const score = (count * (SATURATION + 1)) / (count + SATURATION * penalty)
      scores.set(tool, (scores.get(tool) ?? 0) + rarity * score)
    }
  }
  return [...scores]
    .sort(([one, left], [other, right]) => right - left || (one.name < other.name ? -1 : 1))
    .slice(0, limit)
    .map(([tool]) => tool)
}

function toSearchDocument(tool: ServedTool): SearchDocument {
  const { title = '', tags, summary, description = '' } = tool.facts
  const fields = [
    { weight: 5, words: splitWords(`${tool.name} ${title}`) },
    { weight: 3, words: splitWords(tags.join(' ')) },
    { weight: 2, words: splitWords(summary) },
    { weight: 1, words: splitWords(description) },
  ]
  return { tool, fields, length: fields.reduce((sum, { words }) => sum + words.length, 0) }
}

function countWord(word: string, { fields }: SearchDocument): number {
  return fields.reduce(
    (sum, { weight, words }) =>
      sum + weight * words.filter((candidate) => matchesWord(candidate, word)).length,
    0,
  )
}

// `files` finds `file`, and the beginning of a word finds the word.
function matchesWord(candidate: string, word: string): boolean {
  return (
    candidate === word ||
    (word.length >= 3 && candidate.startsWith(word)) ||
    (candidate.length >= 3 && word.startsWith(candidate) && word.length - candidate.length <= 2)
  )
}

function splitWords(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
