/**
 * Renders a prompt: Markdown text, and the tools of every open section plus the tools of the prompt
 * itself (`open_sections`, `read_section`, `read_skill_file`). A rendered prompt finds and calls
 * its tools and exports them to model providers.
 */

import type { CallOptions } from '../core/call.ts'
import { toLookupKey } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import { invokeTool } from '../core/tool.ts'
import { ok } from '../define/results.ts'
import type { ToolDefinition, ToolOptions } from '../define/tool-types.ts'
import { defineTool } from '../define/tool.ts'
import type { Guard, PromptView } from '../protocol/context.ts'
import type { ErrorObject, Outcome } from '../protocol/outcome.ts'
import type {
  ExportOptions,
  ProviderForms,
  ProviderName,
} from '../protocol/providers/export-tools.ts'
import type { State } from '../protocol/state.ts'
import { createFailureOutcome, reviveToolError, ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import { compact } from '../util/values.ts'
import type { ShownSection } from './resolve-sections.ts'
import { flattenSections, resolveVisibleSections, validateParams } from './resolve-sections.ts'
import type {
  RenderedPrompt,
  RenderedTool,
  RenderOptions,
  SectionedPromptParts,
} from './section-tree.ts'
import {
  findPlacedSections,
  getOpenedKeys,
  listAncestors,
  openSectionsIn,
  throwUnknownSection,
  validateToolNames,
} from './section-tree.ts'
import type { MountedTool } from './section.ts'
import { withErrorContext } from './section.ts'

/** Checks the params, decides which sections are shown, and renders them. */
export async function renderPrompt(
  parts: SectionedPromptParts,
  given: unknown,
  { state, open = [] }: RenderOptions,
): Promise<RenderedPrompt> {
  const { name, placed, sections, guards } = parts
  const seen = await validateParams(parts, given)
  // A snapshot may name a section that no longer exists.
  const remembered = getOpenedKeys(state, name).flatMap((key) => placed.get(toLookupKey(key)) ?? [])
  const wanted = [...findPlacedSections(placed, open), ...remembered]
  await Promise.all([...placed.values()].map(async ({ section }) => section.prepare?.()))
  withErrorContext(`prompt '${name}'`, () => validateToolNames(placed.values()))
  const shown = await resolveVisibleSections(sections, guards, {
    prompt: name,
    seen,
    state,
    open: new Set(wanted.flatMap((here) => listAncestors(here).map(({ section }) => section))),
    placedOf: (section) => placed.get(toLookupKey(section.key))!,
  })
  const text = await renderSections(shown)
  const all = await flattenSections(shown, false)
  const summarised = all
    .filter(({ summary }) => summary !== undefined)
    .map(({ placed: { section } }) => section.key)
  const isOpen = ({ summary }: ShownSection): boolean => summary === undefined
  return createRenderedPrompt({
    name,
    text,
    summarised,
    state,
    open(wanted, given) {
      const isKnown = wanted.every((key) => typeof key === 'string' && placed.has(toLookupKey(key)))
      if (isKnown) openSectionsIn(given, parts, wanted)
      return isKnown
    },
    offered: [
      ...all.filter(isOpen).flatMap(toPromptTools),
      ...(await createOwnTools(shown, all.filter(isOpen), summarised.length > 0)).map(
        (definition) => toOwnPromptTool(definition, guards),
      ),
    ],
  })
}

function toPromptTools({ placed: { section }, guards }: ShownSection): readonly PromptTool[] {
  return section.tools().map(({ entry, start }) => ({
    tool: {
      name: entry.name,
      path: entry.path,
      get definition() {
        return entry.definition
      },
      ...compact({ identity: entry.identity }),
      section: section.key,
      guards,
    },
    start,
  }))
}

function toOwnPromptTool(definition: ToolDefinition, guards: readonly Guard[]): PromptTool {
  const { name } = definition
  return { tool: { name, path: [name.replaceAll('_', '-')], definition, guards }, start: undefined }
}

async function createOwnTools(
  shown: readonly ShownSection[],
  open: readonly ShownSection[],
  canOpen: boolean,
): Promise<readonly ToolDefinition[]> {
  const skills = open
    .flatMap(({ placed }) => placed.section.skill ?? [])
    .filter(({ files }) => files.length > 0)
  const tools: ToolDefinition[] = []
  if (skills.length > 0)
    tools.push((await import('./skill-files.ts')).createReadSkillFileTool(skills))
  if (canOpen) tools.push(createReadSectionTool(shown), createOpenSectionsTool(shown))
  return tools
}

/** A tool of a rendered prompt, and how it is called. */
type PromptTool = { readonly tool: RenderedTool; readonly start: MountedTool['start'] }

/** The parts of a rendered prompt. */
type RenderedPromptParts = {
  readonly name: string
  readonly text: string
  readonly summarised: readonly string[]
  readonly state: State | undefined
  readonly offered: readonly PromptTool[]
  /** Returns false for unknown keys. */
  open(wanted: readonly string[], state: State): boolean
}

type PromptCallResult = { readonly outcome: Outcome; readonly error?: ToolError }

/** Creates the rendered prompt, with its calls. */
function createRenderedPrompt({
  name,
  text,
  summarised,
  state,
  offered,
  open,
}: RenderedPromptParts): RenderedPrompt {
  const tools = offered.map(({ tool }) => tool)
  const byName = new Map(offered.map((each) => [toLookupKey(each.tool.name), each]))
  const view: PromptView = { name, text, tools: tools.map((tool) => tool.name) }
  const find = (wanted: unknown): PromptTool | undefined =>
    typeof wanted === 'string' ? byName.get(toLookupKey(wanted)) : undefined

  const start = async (
    wanted: string,
    input: unknown,
    options: CallOptions = {},
  ): Promise<PromptCallResult> => {
    const found = find(wanted)
    if (!found) return toFailedCall(wanted, createUnknownToolError(String(wanted), view))
    const { tool, start: startMounted } = found
    try {
      const given: CallOptions = {
        ...compact({ state }),
        ...options,
        ...compact({
          guards: tool.guards.length > 0 ? [...(options.guards ?? []), ...tool.guards] : undefined,
        }),
        prompt: view,
        invocation: { ...options.invocation, promptName: name },
      }
      if (startMounted) return await startMounted(input, given)
      return await invokeTool(tool.definition, input, given, tool.identity)
    } catch (error) {
      return toFailedCall(wanted, toToolError(error))
    }
  }
  const exportTo = async <Name extends ProviderName>(
    provider: Name,
    how?: ExportOptions,
  ): Promise<ProviderForms[Name]> =>
    (await import('../registry/providers.ts')).exportTools(provider, tools, how)
  const prompt: RenderedPrompt = {
    name,
    text,
    tools,
    summarised,
    find: (wanted) => find(wanted)?.tool,
    call: async (wanted, input, options) => (await start(wanted, input, options)).outcome,
    evaluate: async (wanted, input, options = {}) =>
      toEvaluatedOutcome(await start(wanted, input, options), options),
    toOpenAI: (({ api, ...how } = {}) =>
      exportTo(
        api === 'responses' ? 'openai-responses' : 'openai',
        how,
      )) as RenderedPrompt['toOpenAI'],
    toAnthropic: () => exportTo('anthropic'),
    toGemini: (how) => exportTo('gemini', how),
    toMcp: () => exportTo('mcp'),
    handleToolCall: async (said, options) =>
      (await import('./tool-calls.ts')).handleToolCall(
        prompt,
        said,
        options ?? {},
        (keys, given = state) => given !== undefined && open(keys, given),
      ),
  }
  return prompt
}

// Throws E_VISIBILITY_EXPANSION and E_PROMPT_EVALUATION, also when the time of the caller is over.
function toEvaluatedOutcome({ outcome, error }: PromptCallResult, options: CallOptions): Outcome {
  if (outcome.ok) return outcome
  const { code, message, details } = outcome.error
  const cause = error ?? reviveToolError(outcome.error)
  if (code === 'E_VISIBILITY_EXPANSION' || code === 'E_PROMPT_EVALUATION') throw cause
  if (code === 'TIMEOUT' && isCallerTimeout(outcome.error, options))
    throw new ToolError(
      'E_PROMPT_EVALUATION',
      `the evaluation ended in tool '${outcome.meta.tool}': ${message}`,
      { cause, details: { ...details, code, tool: outcome.meta.tool } },
    )
  return outcome
}

// The time limit of the caller, and not one of the tool or of a service it used.
function isCallerTimeout({ details }: ErrorObject, { budget, signal }: CallOptions): boolean {
  return (
    details?.['limited_by'] === 'caller' ||
    budget?.remaining('time') === 0 ||
    signal?.aborted === true
  )
}

function toFailedCall(name: unknown, error: ToolError): PromptCallResult {
  return { outcome: createFailureOutcome(error.toObject(), String(name).slice(0, 64)), error }
}

function createUnknownToolError(wanted: string, { name, tools }: PromptView): ToolError {
  const { message, meant } = describeUnknownName('tool', wanted, tools)
  return new ToolError(
    'NOT_FOUND',
    message.endsWith('?') ? message : `${message} in prompt '${name}'`,
    {
      details: { tools: tools.slice(0, 50) },
      suggestion: { action: 'use_different_tool', fix: suggestTool(meant, tools) },
    },
  )
}

function suggestTool(meant: string | undefined, tools: readonly string[]): string {
  if (meant) return `Call '${meant}'`
  if (tools.length === 0) return 'This prompt has no tools'
  return `Call one of ${tools.slice(0, 20).join(', ')}`
}

/** Renders sections as Markdown, with one heading level for each level. */
async function renderSections(sections: readonly ShownSection[]): Promise<string> {
  const texts: string[] = []
  for (const section of sections) texts.push(await renderSection(section))
  return texts.join('\n\n')
}

/** Renders one section; `whole` ignores its summary. */
async function renderSection(
  { placed: { section, depth }, summary, body, children }: ShownSection,
  whole = false,
): Promise<string> {
  const heading = `${'#'.repeat(depth)} ${section.title}`
  if (summary !== undefined && !whole)
    return `${heading}\n\n${summary}\n\n${renderOpenHint(section.key)}`
  return [heading, await body(), await renderSections(await children())]
    .filter((text) => text !== '')
    .join('\n\n')
}

function renderOpenHint(key: string): string {
  return `(Summary. To open this section with its tools, call \`open_sections\` with {"section_keys":["${key}"]}; to read it only, call \`read_section\` with {"section_key":"${key}"}.)`
}

const READ_ONLY_ANNOTATIONS = { readOnly: true, idempotent: true, openWorld: false } as const

/** The tool that returns the text behind a summary without opening the section. */
function createReadSectionTool(sections: readonly ShownSection[]): ToolDefinition {
  return defineReadOnlyTool({
    name: 'read_section',
    summary: 'Read a section of which only the summary is shown, without opening it.',
    input: {
      type: 'object',
      properties: {
        section_key: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          description: 'The key that stands below the summary',
        },
      },
      required: ['section_key'],
      additionalProperties: false,
    },
    run: async ({ section_key: key }) =>
      renderSection((await findShownSections(sections, [key as string]))[0]!, true),
  })
}

/**
 * The tool that requests sections to be opened. The prompt has to be rendered again for that, so it
 * fails with E_VISIBILITY_EXPANSION, which `evaluate` throws.
 */
function createOpenSectionsTool(sections: readonly ShownSection[]): ToolDefinition {
  return defineReadOnlyTool({
    name: 'open_sections',
    summary: 'Open sections of which only the summary is shown: their whole text, and their tools.',
    input: {
      type: 'object',
      properties: {
        section_keys: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: 64 },
          minItems: 1,
          maxItems: 100,
          description: 'The keys that stand below the summaries',
        },
        reason: { type: 'string', maxLength: 1000, description: 'What they are needed for' },
      },
      required: ['section_keys'],
      additionalProperties: false,
    },
    errors: {
      E_VISIBILITY_EXPANSION: {
        message: 'Sections have to be opened',
        category: 'state',
        recoverable: true,
      },
    },
    run: async ({ section_keys: keys, reason }) => {
      const wanted = await findShownSections(sections, keys as string[])
      const open = new Set(
        (await flattenSections(sections, false)).filter(({ summary }) => summary === undefined),
      )
      const closed = [
        ...new Set(
          wanted.filter((section) => !open.has(section)).map(({ placed }) => placed.section.key),
        ),
      ]
      if (closed.length === 0)
        return ok(
          { opened: [] },
          {
            message: `Already open: ${wanted.map(({ placed }) => placed.section.key).join(', ')}.`,
          },
        )
      throw new ToolError(
        'E_VISIBILITY_EXPANSION',
        `the prompt has to be rendered again with ${closed.length === 1 ? 'the section' : 'the sections'} ${closed.join(', ')} open`,
        {
          category: 'state',
          recoverable: true,
          details: compact({ keys: closed, reason }),
          suggestion: {
            action: 'abort',
            fix: `The host calls prompt.open(${JSON.stringify(closed)}, state), renders the prompt again and goes on with its text and tools`,
          },
        },
      )
    },
  })
}

async function findShownSections(
  sections: readonly ShownSection[],
  keys: readonly string[],
): Promise<readonly ShownSection[]> {
  const all = await flattenSections(sections, true)
  return keys.map(
    (key) =>
      all.find(({ placed }) => toLookupKey(placed.section.key) === toLookupKey(key)) ??
      throwUnknownSection(
        key,
        all.map(({ placed }) => placed.section.key),
      ),
  )
}

function defineReadOnlyTool(
  options: Omit<ToolOptions, 'run'> & {
    readonly run: (input: { readonly [field: string]: unknown }) => unknown
  },
): ToolDefinition {
  return defineTool({ ...options, annotations: READ_ONLY_ANNOTATIONS })
}
