/**
 * Sections of a prompt: `section()` and `toolsetSection()`.
 *
 * A prompt is a tree of sections. A section is a heading, a text with `{{params}}`, the tools that
 * belong to it and its children. This subsystem reads in this order: section.ts (one section),
 * section-tree.ts (all sections of a prompt), sections.ts (the prompt itself), resolve-sections.ts
 * and render.ts (text and tools for one turn), tool-calls.ts (answering a model). Skills are
 * folders with a SKILL.md that become sections; planning.ts is a section with four tools by which a
 * model keeps a plan.
 */

import type { CallOptions, CallResult } from '../core/call.ts'
import type { Servable, ToolEntry, ToolTree } from '../core/provider.ts'
import { collectTools } from '../core/provider.ts'
import { checkName, checkOptions, checkTitle } from '../define/checks.ts'
import type { LazySchema } from '../define/schema/source.ts'
import { classifySchema, isSchemaThunk } from '../define/schema/source.ts'
import type { InputOf, OutputOf } from '../define/tool-types.ts'
import type { Guard } from '../protocol/context.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { State } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { TextTemplate } from './template.ts'
import { parseTemplate } from './template.ts'

const SECTION_OPTION_NAMES = [
  'key',
  'title',
  'params',
  'body',
  'tools',
  'guards',
  'enabled',
  'visibility',
  'summary',
  'children',
] as const satisfies readonly (keyof SectionOptions)[]

/**
 * Defines a section of a prompt: a heading, a text with params, tools that go with it, and sections
 * below it. Throws CONFIG, saying what to change.
 */
export function section<
  const Schema extends LazySchema | undefined = undefined,
  const Children extends readonly Section[] = readonly [],
>(
  options: SectionOptions<Schema, Children>,
): Section<InputParamsFor<Schema> & CombinedInputParams<Children>> {
  if (!isObject(options)) throw new ToolError('CONFIG', 'section() takes { key, title, body }')
  checkName('section', options.key)
  const what = `section '${options.key}'`
  checkOptions(what, options, SECTION_OPTION_NAMES)
  const { tools = [], body, params } = options as SectionOptions
  if (body !== undefined && typeof body !== 'string' && typeof body !== 'function')
    throw new ToolError('CONFIG', `'body' of ${what} must be Markdown, or a function that gives it`)
  if (params !== undefined && !isSchemaThunk(params))
    withErrorContext(what, () => classifySchema(params))
  const entries = withErrorContext(what, () => collectTools(tools)).map((entry) => ({ entry }))
  return createSection({
    ...readCommonOptions(what, options),
    params,
    body: typeof body === 'string' ? parseTemplate(`'body' of ${what}`, body) : body,
    tools: () => entries,
  })
}

/**
 * The parts that every kind of section has, checked. `otherwise` gives the summary where the author
 * says none.
 */
export function readCommonOptions(
  what: string,
  {
    key,
    title,
    guards = [],
    enabled = true,
    visibility = 'full',
    summary,
    children = [],
  }: SectionOptions,
  otherwise?: () => string,
): Pick<
  SectionDefinition,
  'key' | 'title' | 'guards' | 'enabled' | 'visibility' | 'summary' | 'children'
> {
  checkTitle(what, title ?? '')
  if (/[\r\n]/.test(title)) throw new ToolError('CONFIG', `'title' of ${what} must be one line`)
  if (typeof enabled !== 'boolean' && typeof enabled !== 'function')
    throw new ToolError(
      'CONFIG',
      `'enabled' of ${what} must be true, false, or a function of the params`,
    )
  if (visibility !== 'full' && visibility !== 'summary' && typeof visibility !== 'function')
    throw new ToolError(
      'CONFIG',
      `'visibility' of ${what} must be 'full', 'summary', or a function of the params`,
    )
  if (summary !== undefined && (typeof summary !== 'string' || summary.trim() === ''))
    throw new ToolError('CONFIG', `'summary' of ${what} must be a text that is not empty`)
  if (visibility === 'summary' && summary === undefined && !otherwise)
    throw new ToolError('CONFIG', `${what} shows its summary, but has none`, {
      suggestion: "Add summary: 'What it is about', or take visibility out",
    })
  validateGuards(what, guards)
  if (!Array.isArray(children))
    throw new ToolError('CONFIG', `'children' of ${what} must be a list of sections`)
  return {
    key,
    title: title.trim(),
    guards,
    enabled,
    visibility,
    summary: summary === undefined ? otherwise : parseTemplate(`'summary' of ${what}`, summary),
    children: children.map((child, index) =>
      getSectionDefinition(child, `child ${index + 1} of ${what}`),
    ),
  }
}

/** Refuses what is no list of guards. */
export function validateGuards(what: string, guards: unknown): void {
  if (
    !Array.isArray(guards) ||
    guards.some((guard) => typeof (guard as { check?: unknown } | null)?.check !== 'function')
  )
    throw new ToolError('CONFIG', `'guards' of ${what} must be a list of guards: { name, check }`)
}

/** Wraps a definition. */
export function createSection(definition: SectionDefinition): Section<never> {
  return { [sectionSymbol]: definition, key: definition.key, title: definition.title }
}

/** The definition behind a section; throws CONFIG for anything else, which `what` names. */
export function getSectionDefinition(value: unknown, what: string): SectionDefinition {
  if (isObject(value) && sectionSymbol in value) return (value as unknown as Section)[sectionSymbol]
  const late = value instanceof Promise
  throw new ToolError(
    'CONFIG',
    `${what} is ${late ? 'a promise' : 'no section'}: ${late ? 'write await before it' : 'make it with section({ key, title, body })'}`,
  )
}

/** Runs what may fail in a section, and says in which. */
export function withErrorContext<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw addErrorContext(what, error)
  }
}

/** The failure with the name of the place that it comes from. */
export function addErrorContext(what: string, error: unknown, code = 'CONFIG'): ToolError {
  const { suggestion, details, field } = ToolError.is(error) ? error : ({} as Partial<ToolError>)
  const message = error instanceof Error ? error.message : String(error)
  return new ToolError(ToolError.is(error) ? error.code : code, `${what}: ${message}`, {
    cause: error,
    ...compact({ suggestion, details, field }),
  })
}

/** How a toolset or a registry is shown. */
export type ToolsetSectionOptions = Partial<
  Pick<
    SectionOptions<undefined>,
    'key' | 'title' | 'body' | 'summary' | 'guards' | 'enabled' | 'visibility' | 'children'
  >
> & {
  /** The names of the tools that are wanted; default: all, also those that come later. */
  readonly only?: readonly string[]
}

const TOOLSET_OPTION_NAMES = [
  'key',
  'title',
  'body',
  'summary',
  'guards',
  'enabled',
  'visibility',
  'children',
  'only',
] as const satisfies readonly (keyof ToolsetSectionOptions)[]

/**
 * Mounts a toolset or a registry as a section: key and title from its name, text from its
 * description, and its tools as they are at each rendering. Throws CONFIG.
 */
export function toolsetSection(mounted: Servable, options: ToolsetSectionOptions = {}): Section {
  if (typeof mounted?.find !== 'function' || typeof mounted.call !== 'function')
    throw new ToolError(
      'CONFIG',
      `toolsetSection() takes a toolset or a registry${(mounted as unknown) instanceof Promise ? ', and got a promise: write await before it' : ''}`,
    )
  checkOptions('toolsetSection()', options, TOOLSET_OPTION_NAMES)
  const {
    key = mounted.name,
    title = mounted.name,
    body,
    only,
    visibility = 'full',
    ...rest
  } = options
  const what = `section '${key}'`
  const tools = (): readonly MountedTool[] =>
    selectTools(what, mounted, only).map((entry) => ({
      entry,
      start: async (input, given) => ({
        outcome: await mounted.call(getEntryId(entry), input, given),
      }),
    }))
  const { description = '' } = mounted.options
  return createSection({
    ...readCommonOptions(
      what,
      { ...rest, key, title, visibility } as SectionOptions,
      () =>
        description.trim() ||
        `Tools: ${tools()
          .map(({ entry }) => entry.name)
          .join(', ')}.`,
    ),
    params: undefined,
    body:
      typeof body === 'string'
        ? parseTemplate(`'body' of ${what}`, body)
        : (body ?? (() => description)),
    tools,
    ...compact({ prepare: mounted.prepare ? () => mounted.prepare!() : undefined }),
  })
}

function selectTools(
  what: string,
  mounted: Servable,
  only: readonly string[] | undefined,
): readonly ToolEntry[] {
  return only === undefined
    ? mounted.entries
    : only.map((name) => {
        const entry = mounted.find(name)
        if (entry) return entry
        throw new ToolError(
          'CONFIG',
          `'only' of ${what}: ${
            describeUnknownName(
              'tool',
              name,
              mounted.entries.map((each) => each.name),
            ).message
          }`,
          { suggestion: 'Name tools that it has' },
        )
      })
}

// In a registry only the id means this very tool.
function getEntryId(entry: ToolEntry & { readonly id?: string }): string {
  return entry.id ?? entry.name
}

/**
 * `summary` shows the summary of a section only, and keeps back its children and tools until it is
 * opened.
 */
export type SectionVisibility = 'full' | 'summary'

/** What the functions of a section get besides the params. */
export type SectionContext = { readonly state: State | undefined }

type AnyParams = Readonly<Record<string, unknown>>

/**
 * What the functions of a section see: the params that it declares, and at run time those of its
 * parents and of the prompt too.
 */
type SectionParamsOf<Schema> = Schema extends LazySchema ? OutputOf<Schema> : AnyParams

/** Everything an author may say about a section. Only `key` and `title` are required. */
export type SectionOptions<
  Schema extends LazySchema | undefined = LazySchema | undefined,
  Children extends readonly Section[] = readonly Section[],
> = {
  /** 1 to 64 characters of `a-z 0-9 _ -`, once in a prompt. */
  readonly key: string
  /** One line: the heading. */
  readonly title: string
  /** What the texts of the section take from the params of `render`. */
  readonly params?: Schema
  /** Markdown with `{{name}}` for params, or a function that gives Markdown as it is. */
  readonly body?:
    | string
    | ((params: SectionParamsOf<Schema>, context: SectionContext) => string | Promise<string>)
  /** Offered to the model while the section is enabled and open. */
  readonly tools?: ToolTree
  /** Look at every call of a tool of the section and of its children. */
  readonly guards?: readonly Guard[]
  /** Default true. A section that is not enabled is not there, nor are its children and tools. */
  readonly enabled?:
    | boolean
    | ((params: SectionParamsOf<Schema>, context: SectionContext) => boolean | Promise<boolean>)
  /** Default `full`. */
  readonly visibility?:
    | SectionVisibility
    | ((
        params: SectionParamsOf<Schema>,
        context: SectionContext,
      ) => SectionVisibility | Promise<SectionVisibility>)
  /**
   * What is shown instead of the body while the section is not open; Markdown with `{{name}}` for
   * params.
   */
  readonly summary?: string
  readonly children?: Children
}

/** The name that sections are known by, also from another copy of this package. */
const sectionSymbol: unique symbol = Symbol.for('toolable.section') as never
declare const paramsSymbol: unique symbol

/** A part of a prompt. `Given` is what it, and its children, need of the params of `render`. */
export type Section<Given = unknown> = {
  readonly [sectionSymbol]: SectionDefinition
  readonly key: string
  readonly title: string
  readonly [paramsSymbol]?: Given
}

type InputParamsOf<Part> = Part extends Section<infer Given> ? Given : unknown
/** What all of the sections need together. */
export type CombinedInputParams<Parts extends readonly Section[]> = {
  [Index in keyof Parts]: (all: InputParamsOf<Parts[Index]>) => void
}[number] extends (all: infer All) => void
  ? All
  : never
/** What a caller gives for a schema. */
export type InputParamsFor<Schema> = Schema extends LazySchema ? InputOf<Schema> : unknown

/** A tool of a section, and how it is called where that is not by its definition alone. */
export type MountedTool = {
  readonly entry: ToolEntry
  readonly start?: (
    input: unknown,
    options: CallOptions,
  ) => Promise<CallResult | { readonly outcome: Outcome }>
}

/** A checked section: what the prompt works with. */
export type SectionDefinition = {
  readonly key: string
  readonly title: string
  readonly params: LazySchema | undefined
  readonly body:
    | TextTemplate
    | ((params: never, context: SectionContext) => string | Promise<string>)
    | undefined
  /** Asked each time, because what is mounted may change. */
  tools(): readonly MountedTool[]
  /** Loads what the definitions of the tools need. */
  prepare?(): Promise<void>
  readonly guards: readonly Guard[]
  readonly enabled:
    boolean | ((params: never, context: SectionContext) => boolean | Promise<boolean>)
  readonly visibility:
    | SectionVisibility
    | ((params: never, context: SectionContext) => SectionVisibility | Promise<SectionVisibility>)
  readonly summary: TextTemplate | (() => string) | undefined
  readonly children: readonly SectionDefinition[]
  /** The folder behind it, where it is a skill. */
  readonly skill?: SkillFolder
}

/** A folder with a SKILL.md, read and checked. */
export type SkillFolder = {
  readonly name: string
  readonly description: string
  /** What stands below the head of SKILL.md. */
  readonly text: string
  /** The folder itself, all links followed. */
  readonly folder: string
  /** Its other files, with `/` between the parts, sorted. */
  readonly files: readonly string[]
}

/** What may be said about a skill besides its own SKILL.md. */
export type SkillSectionOptions = Partial<
  Pick<
    SectionOptions<undefined>,
    'key' | 'title' | 'summary' | 'tools' | 'guards' | 'enabled' | 'visibility' | 'children'
  >
> & {
  /** What a relative folder is relative to; default: the directory of the process. */
  readonly cwd?: string
}
