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

/** Checks the options that every kind of section has. `otherwise` is the default summary. */
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
  const requireOption = (isValid: boolean, option: string, expected: string): void => {
    if (!isValid) throw new ToolError('CONFIG', `'${option}' of ${what} must be ${expected}`)
  }
  checkTitle(what, title ?? '')
  requireOption(!/[\r\n]/.test(title), 'title', 'one line')
  requireOption(
    typeof enabled === 'boolean' || typeof enabled === 'function',
    'enabled',
    'true, false, or a function of the params',
  )
  requireOption(
    visibility === 'full' || visibility === 'summary' || typeof visibility === 'function',
    'visibility',
    "'full', 'summary', or a function of the params",
  )
  requireOption(
    summary === undefined || (typeof summary === 'string' && summary.trim() !== ''),
    'summary',
    'a text that is not empty',
  )
  if (visibility === 'summary' && summary === undefined && !otherwise)
    throw new ToolError('CONFIG', `${what} shows its summary, but has none`, {
      suggestion: "Add summary: 'What it is about', or take visibility out",
    })
  validateGuards(what, guards)
  requireOption(Array.isArray(children), 'children', 'a list of sections')
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

/** Throws CONFIG for an invalid list of guards. */
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

/** Returns the definition of a section. Throws CONFIG for anything else, which `what` names. */
export function getSectionDefinition(value: unknown, what: string): SectionDefinition {
  if (isObject(value) && sectionSymbol in value) return (value as unknown as Section)[sectionSymbol]
  const problem =
    value instanceof Promise
      ? 'a promise: write await before it'
      : 'no section: make it with section({ key, title, body })'
  throw new ToolError('CONFIG', `${what} is ${problem}`)
}

/** Adds the section to errors of `run`. */
export function withErrorContext<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw addErrorContext(what, error)
  }
}

/** Adds the section to an error. */
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
  return (
    only?.map((name) => {
      const entry = mounted.find(name)
      if (entry) return entry
      const names = mounted.entries.map((each) => each.name)
      const { message } = describeUnknownName('tool', name, names)
      throw new ToolError('CONFIG', `'only' of ${what}: ${message}`, {
        suggestion: 'Name tools that it has',
      })
    }) ?? mounted.entries
  )
}

// In a registry, only the id is unique.
function getEntryId(entry: ToolEntry & { readonly id?: string }): string {
  return entry.id ?? entry.name
}

/**
 * `summary` shows the summary of a section only, and keeps back its children and tools until it is
 * opened.
 */
export type SectionVisibility = 'full' | 'summary'

/** The second argument of a section's functions. */
export type SectionContext = { readonly state: State | undefined }

type AnyParams = Readonly<Record<string, unknown>>

/** A value, or a function of the params that returns it. */
export type ValueOrFunction<Value, Params> =
  Value | ((params: Params, context: SectionContext) => Value | Promise<Value>)

/** The params of a section's functions; at run time those of its parents and of the prompt too. */
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
  readonly body?: ValueOrFunction<string, SectionParamsOf<Schema>>
  /** Offered to the model while the section is enabled and open. */
  readonly tools?: ToolTree
  /** Look at every call of a tool of the section and of its children. */
  readonly guards?: readonly Guard[]
  /** Default true. A section that is not enabled is not there, nor are its children and tools. */
  readonly enabled?: ValueOrFunction<boolean, SectionParamsOf<Schema>>
  /** Default `full`. */
  readonly visibility?: ValueOrFunction<SectionVisibility, SectionParamsOf<Schema>>
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
/** The params of all sections together. */
export type CombinedInputParams<Parts extends readonly Section[]> = {
  [Index in keyof Parts]: (all: InputParamsOf<Parts[Index]>) => void
}[number] extends (all: infer All) => void
  ? All
  : never
/** The input type of a schema. */
export type InputParamsFor<Schema> = Schema extends LazySchema ? InputOf<Schema> : unknown

/** A tool of a section; `start` calls it when its definition alone is not enough. */
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
  readonly body: TextTemplate | Exclude<ValueOrFunction<string, never>, string> | undefined
  /** Called each time, because a mounted toolset may change. */
  tools(): readonly MountedTool[]
  /** Loads the definitions of the tools. */
  prepare?(): Promise<void>
  readonly guards: readonly Guard[]
  readonly enabled: ValueOrFunction<boolean, never>
  readonly visibility: ValueOrFunction<SectionVisibility, never>
  readonly summary: TextTemplate | (() => string) | undefined
  readonly children: readonly SectionDefinition[]
  /** The folder of a skill. */
  readonly skill?: SkillFolder
}

/** A folder with a SKILL.md, read and checked. */
export type SkillFolder = {
  readonly name: string
  readonly description: string
  /** The text below the front matter of SKILL.md. */
  readonly text: string
  /** The folder, with links resolved. */
  readonly folder: string
  /** Its other files, with `/` between the parts, sorted. */
  readonly files: readonly string[]
}

/** Options of a skill besides its own SKILL.md. */
export type SkillSectionOptions = Partial<
  Pick<
    SectionOptions<undefined>,
    'key' | 'title' | 'summary' | 'tools' | 'guards' | 'enabled' | 'visibility' | 'children'
  >
> & {
  /** The base of a relative folder; default: the working directory. */
  readonly cwd?: string
}
