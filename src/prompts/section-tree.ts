/**
 * The sections of one prompt as a tree: their places, the names of their tools, and which of them
 * are open.
 *
 * The rules that can be checked without rendering live here: a key occurs once, a tool name occurs
 * once, every `{{placeholder}}` is a declared param.
 */

import type { CallOptions } from '../core/call.ts'
import { toLookupKey } from '../core/call.ts'
import type { ToolEntry } from '../core/provider.ts'
import type { LazySchema } from '../define/schema/source.ts'
import type { Guard, PromptView } from '../protocol/context.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type {
  AnthropicTool,
  ExportOptions,
  GeminiTool,
  McpTool,
  OpenAiResponsesTool,
  OpenAiTool,
} from '../protocol/providers/export-tools.ts'
import type { ToolMessage } from '../protocol/providers/tool-messages.ts'
import type { Slice, State } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'
import type { Section, SectionDefinition } from './section.ts'
import type { TextTemplate } from './template.ts'

// Markdown has no headings below.
const MAX_SECTION_DEPTH = 6

/** The tools that a prompt has of its own. */
const RESERVED_TOOL_NAMES = ['open_sections', 'read_section', 'read_skill_file'] as const

/** A section where it stands in its prompt. */
export type PlacedSection = {
  readonly section: SectionDefinition
  /** The keys from the top, with dots. */ readonly path: string
  /** From 1. */ readonly depth: number
  readonly parent: PlacedSection | undefined
}

/** What stands behind a prompt of sections. */
export type SectionedPromptParts = {
  readonly name: string
  readonly sections: readonly SectionDefinition[]
  readonly params: LazySchema | undefined
  readonly guards: readonly Guard[]
  readonly placed: ReadonlyMap<string, PlacedSection>
}

/**
 * All sections of a prompt by their keys, depth first. Throws CONFIG for keys that are there twice,
 * and for what is nested deeper than headings go.
 */
export function placeSections(
  sections: readonly SectionDefinition[],
): ReadonlyMap<string, PlacedSection> {
  const placed = new Map<string, PlacedSection>()
  const place = (section: SectionDefinition, parent: PlacedSection | undefined): void => {
    const path = parent ? `${parent.path}.${section.key}` : section.key
    const depth = (parent?.depth ?? 0) + 1
    const other = placed.get(toLookupKey(section.key))
    if (other)
      throw new ToolError(
        'CONFIG',
        `two sections have the key '${section.key}': '${other.path}' and '${path}'`,
        { suggestion: `Give one of them another key, for example '${section.key}_2'` },
      )
    if (depth > MAX_SECTION_DEPTH)
      throw new ToolError(
        'CONFIG',
        `section '${path}' is nested ${depth} deep; headings go ${MAX_SECTION_DEPTH} deep`,
        { suggestion: 'Move it up' },
      )
    const here: PlacedSection = { section, path, depth, parent }
    placed.set(toLookupKey(section.key), here)
    const { skill } = section
    const twin =
      skill &&
      [...placed.values()].find((each) => each !== here && each.section.skill?.name === skill.name)
    if (twin)
      throw new ToolError(
        'CONFIG',
        `two skills are called '${skill.name}': in section '${twin.path}' and in section '${path}'`,
        { suggestion: 'Take one out, or change the name in its SKILL.md' },
      )
    for (const child of section.children) place(child, here)
  }
  for (const section of sections) place(section, undefined)
  return placed
}

/**
 * Refuses two tools of one name, in whatever sections they are: what is not enabled or not open
 * today may be tomorrow.
 */
export function validateToolNames(placed: Iterable<PlacedSection>): void {
  const owners = new Map<string, { readonly name: string; readonly path: string }>()
  for (const { section, path } of placed) {
    for (const {
      entry: { name },
    } of section.tools()) {
      const key = toLookupKey(name)
      if ((RESERVED_TOOL_NAMES as readonly string[]).includes(key))
        throw new ToolError(
          'CONFIG',
          `section '${path}' has a tool '${name}', which prompts have themselves`,
          { suggestion: `Rename it: tools: { my_${key}: tool }` },
        )
      const other = owners.get(key)
      if (other)
        throw new ToolError(
          'CONFIG',
          `two tools are called '${other.name}'${other.name === name ? '' : ` ('${name}' is the same name)`}: in section '${other.path}' and in section '${path}'`,
          { suggestion: `Rename one: tools: { other_${key}: tool }` },
        )
      owners.set(key, { name, path })
    }
  }
}

/**
 * Refuses places for params that neither the section nor what stands above it declares. `schemaOf`
 * gives undefined where the schema is not known yet: then nothing is refused.
 */
export function validatePlaceholders(
  placed: Iterable<PlacedSection>,
  top: JsonSchema | undefined | null,
  schemaOf: (section: SectionDefinition) => JsonSchema | undefined | null,
): void {
  for (const here of placed) {
    const schemas = [top, ...listAncestors(here).map(({ section }) => schemaOf(section))]
    if (schemas.includes(undefined)) continue
    const known = schemas.filter((schema) => schema !== null && schema !== undefined)
    for (const [part, template] of listTemplates(here.section)) {
      const unknown = template.placeholders.find((path) => !isDeclaredParam(known, path))
      if (!unknown) continue
      const names = [...new Set(known.flatMap((schema) => Object.keys(schema['properties'] ?? {})))]
      throw new ToolError(
        'CONFIG',
        `'${part}' of section '${here.path}' has a place for {{${unknown.join('.')}}}, which no params declare${names.length > 0 ? `; there are ${names.join(', ')}` : ''}`,
        {
          suggestion: `Declare '${unknown.join('.')}' in 'params' of the section or of the prompt, or write \\{{ for the braces themselves`,
        },
      )
    }
  }
}

/** The section and those around it, itself first. */
export function listAncestors(here: PlacedSection): readonly PlacedSection[] {
  return here.parent ? [here, ...listAncestors(here.parent)] : [here]
}

function listTemplates({
  body,
  summary,
}: SectionDefinition): (readonly ['body' | 'summary', TextTemplate])[] {
  return (
    [
      ['body', body],
      ['summary', summary],
    ] as const
  ).flatMap(([part, text]) => (typeof text === 'object' ? [[part, text] as const] : []))
}

type OpenedSection = { readonly prompt: string; readonly section: string }

/** Where the state remembers which sections were opened. */
export const openedSectionsSlice: Slice<OpenedSection> = {
  key: 'toolable.opened_sections',
  kind: 'state',
  by: ({ prompt, section }) => `${prompt}/${section}`,
  read(value) {
    if (
      isObject(value) &&
      typeof value['prompt'] === 'string' &&
      typeof value['section'] === 'string'
    )
      return { prompt: value['prompt'], section: value['section'] }
    throw new ToolError('CONFIG', 'an opened section is remembered as { prompt, section }')
  },
}

/** The keys of the sections of a prompt that a state has as open. */
export function getOpenedKeys(state: State | undefined, prompt: string): readonly string[] {
  return state === undefined
    ? []
    : state
        .get(openedSectionsSlice)
        .where((opened) => opened.prompt === prompt)
        .map(({ section }) => section)
}

/**
 * Remembers sections of a prompt as open; gives the keys of those that were not. Throws NOT_FOUND
 * for unknown keys.
 */
export function openSectionsIn(
  state: State,
  { name, placed }: Pick<SectionedPromptParts, 'name' | 'placed'>,
  wanted: readonly string[] | ToolError,
): readonly string[] {
  const before = new Set(getOpenedKeys(state, name))
  const opened = [
    ...new Set(findPlacedSections(placed, toSectionKeys(wanted)).map(({ section }) => section.key)),
  ].filter((key) => !before.has(key))
  for (const section of opened) state.get(openedSectionsSlice).upsert({ prompt: name, section })
  return opened
}

/** The keys that are wanted, also where an error names them. */
function toSectionKeys(wanted: readonly string[] | ToolError): readonly string[] {
  const keys: unknown = ToolError.is(wanted) ? wanted.details?.['keys'] : wanted
  if (Array.isArray(keys)) return keys as readonly string[]
  throw new ToolError(
    'INVALID_INPUT',
    'open() takes the keys of sections, or the E_VISIBILITY_EXPANSION that names them',
  )
}

/** The sections of the keys; throws NOT_FOUND for a key that none has. */
export function findPlacedSections(
  placed: ReadonlyMap<string, PlacedSection>,
  keys: readonly string[],
): readonly PlacedSection[] {
  return keys.map(
    (key) =>
      placed.get(toLookupKey(String(key))) ??
      throwUnknownSection(
        String(key),
        [...placed.values()].map(({ section }) => section.key),
      ),
  )
}

/** Throws NOT_FOUND with the key that was probably meant. */
export function throwUnknownSection(key: string, keys: readonly string[]): never {
  const { message, meant } = describeUnknownName('section', key, keys)
  throw new ToolError('NOT_FOUND', message, {
    details: { sections: keys.slice(0, 50) },
    suggestion: suggestSection(meant, keys),
  })
}

function suggestSection(meant: string | undefined, keys: readonly string[]): string {
  if (meant) return `Use '${meant}'`
  if (keys.length === 0) return 'There is no section to open'
  return `The sections are ${keys.slice(0, 20).join(', ')}`
}

const COMPOSITION_KEYWORDS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', '$dynamicRef']

/**
 * The names that a schema of params declares; undefined where it takes any name, or says them in
 * parts that nobody puts together here.
 */
export function getDeclaredNames(schema: JsonSchema): readonly string[] | undefined {
  const { properties, additionalProperties = false, patternProperties } = schema
  const isOpen =
    additionalProperties !== false ||
    patternProperties !== undefined ||
    COMPOSITION_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))
  return isOpen ? undefined : Object.keys(isObject(properties) ? properties : {})
}

/** True where one of the schemas may have a value at the path. */
function isDeclaredParam(schemas: readonly JsonSchema[], path: readonly string[]): boolean {
  return schemas.some((schema) => mayHavePath(schema, path))
}

function mayHavePath(schema: JsonSchema, path: readonly string[]): boolean {
  const [key, ...rest] = path
  const names = getDeclaredNames(schema)
  if (key === undefined || names === undefined) return true
  const inner = names.includes(key) ? (schema['properties'] as JsonSchema)[key] : undefined
  return inner !== undefined && (!isObject(inner) || isUntyped(inner) || mayHavePath(inner, rest))
}

// What a value without a described form holds is for its author to know.
function isUntyped({ type, properties }: JsonSchema): boolean {
  return properties === undefined && (type === undefined || [type].flat().includes('array'))
}

/** Everything an author may say about a prompt of sections. */
export type SectionsOptions<
  Schema extends LazySchema | undefined = LazySchema | undefined,
  Parts extends readonly Section[] = readonly Section[],
> = {
  readonly name: string
  readonly sections: Parts
  /** Params that every section may use. */
  readonly params?: Schema
  /** Look at every call of a tool of the prompt, before those of the sections. */
  readonly guards?: readonly Guard[]
}

/** How a prompt is rendered. */
export type RenderOptions = {
  /** Remembers which sections are open, and is the state of the calls unless they bring one. */
  readonly state?: State
  /** Sections that are shown whole this time, besides those that the state has as open. */
  readonly open?: readonly string[]
}

type RenderArgs<Given> = unknown extends Given
  ? [params?: Readonly<Record<string, unknown>>, options?: RenderOptions]
  : {} extends Given
    ? [params?: Given, options?: RenderOptions]
    : [params: Given, options?: RenderOptions]

/** A prompt made of sections: text and tools that belong together. */
export type SectionedPrompt<Given = unknown> = {
  readonly name: string
  /**
   * Compiles all that is compiled late (params, tools) and checks the examples of the tools; throws
   * CONFIG with the place.
   */
  validate(): Promise<void>
  /**
   * Text and tools for these params; the same params and state give the same. Throws INVALID_INPUT
   * or MISSING_PARAM, naming the section, and NOT_FOUND for unknown keys in `open`.
   */
  render(...given: RenderArgs<Given>): Promise<RenderedPrompt>
  /**
   * Remembers sections as open, so that the next `render` shows them whole; gives the keys that
   * were not open before. Takes keys, or the E_VISIBILITY_EXPANSION that names them. Throws
   * NOT_FOUND for unknown keys.
   */
  open(wanted: readonly string[] | ToolError, state: State): readonly string[]
  /** Forgets that sections were opened: all, or those of the keys. */
  close(state: State, keys?: readonly string[]): void
}

/** A tool of a rendered prompt. */
export type RenderedTool = ToolEntry & {
  /**
   * The key of its section; absent for the tools of the prompt itself (`open_sections`,
   * `read_section`, `read_skill_file`).
   */
  readonly section?: string
  /** Those of the prompt, of the sections around it and of its own section. */
  readonly guards: readonly Guard[]
}

type PromptOpenAiOptions = Pick<ExportOptions, 'strict' | 'onNote'>

/** A prompt as a model gets it. */
export type RenderedPrompt = Omit<PromptView, 'tools'> & {
  /**
   * Of the enabled and open sections, depth first; `open_sections` is the last where something can
   * be opened.
   */
  readonly tools: readonly RenderedTool[]
  /** The sections of which only the summary is shown. */
  readonly summarised: readonly string[]
  /** The tool of a name; '-' and '_' are equal. */
  find(name: string): RenderedTool | undefined
  /** Calls a tool of the prompt under the guards of its sections; never throws. */
  call(name: string, input?: unknown, options?: CallOptions): Promise<Outcome>
  /**
   * As `call`, but throws E_VISIBILITY_EXPANSION (`details.keys`: open these and render again) and
   * E_PROMPT_EVALUATION (also where the time that it was given is over; that of a tool is a failed
   * outcome).
   */
  evaluate(name: string, input?: unknown, options?: CallOptions): Promise<Outcome>
  toOpenAI(options?: PromptOpenAiOptions & { readonly api?: 'chat' }): Promise<OpenAiTool[]>
  toOpenAI(
    options: PromptOpenAiOptions & { readonly api: 'responses' },
  ): Promise<OpenAiResponsesTool[]>
  toAnthropic(): Promise<AnthropicTool[]>
  toGemini(options?: Pick<ExportOptions, 'schema'>): Promise<GeminiTool>
  toMcp(): Promise<McpTool[]>
  /**
   * Runs what a model asked for, in the form of any provider, and gives the message that answers
   * it; several calls give several messages. With a state, sections that the model wants are opened
   * in it, for the next `render`. Never throws.
   */
  handleToolCall(
    call: unknown,
    options?: CallOptions,
  ): Promise<ToolMessage | readonly ToolMessage[]>
}
