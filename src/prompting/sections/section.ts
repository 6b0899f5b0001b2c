import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkName, checkOptions, checkTitle } from '../../define/names.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import { isThunk, readSource } from '../../define/schema/source.ts'
import { collectTools } from '../../call/collect.ts'
import { brand } from './section-type.ts'
import type {
  GivenFor,
  GivenTogether,
  Section,
  SectionDefinition,
  SectionOptions,
} from './section-type.ts'
import { readTemplate } from './template.ts'

const OPTIONS = [
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

/** Defines a section of a prompt: a heading, a text with params, tools that go with it, and sections below it. Throws CONFIG, saying what to change. */
export function section<
  const Schema extends LazySchema | undefined = undefined,
  const Children extends readonly Section[] = readonly [],
>(options: SectionOptions<Schema, Children>): Section<GivenFor<Schema> & GivenTogether<Children>> {
  if (!isObject(options)) throw new ToolError('CONFIG', 'section() takes { key, title, body }')
  checkName('section', options.key)
  const what = `section '${options.key}'`
  checkOptions(what, options, OPTIONS)
  const { tools = [], body, params } = options as SectionOptions
  if (body !== undefined && typeof body !== 'string' && typeof body !== 'function')
    throw new ToolError('CONFIG', `'body' of ${what} must be Markdown, or a function that gives it`)
  if (params !== undefined && !isThunk(params)) named(what, () => readSource(params))
  const entries = named(what, () => collectTools(tools)).map((entry) => ({ entry }))
  return makeSection({
    ...commonParts(what, options),
    params,
    body: typeof body === 'string' ? readTemplate(`'body' of ${what}`, body) : body,
    tools: () => entries,
  })
}

/** The parts that every kind of section has, checked. `otherwise` gives the summary where the author says none. */
export function commonParts(
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
  checkGuardList(what, guards)
  if (!Array.isArray(children))
    throw new ToolError('CONFIG', `'children' of ${what} must be a list of sections`)
  return {
    key,
    title: title.trim(),
    guards,
    enabled,
    visibility,
    summary: summary === undefined ? otherwise : readTemplate(`'summary' of ${what}`, summary),
    children: children.map((child, index) =>
      definitionOfSection(child, `child ${index + 1} of ${what}`),
    ),
  }
}

/** Refuses what is no list of guards. */
export function checkGuardList(what: string, guards: unknown): void {
  if (
    !Array.isArray(guards) ||
    guards.some((guard) => typeof (guard as { check?: unknown } | null)?.check !== 'function')
  )
    throw new ToolError('CONFIG', `'guards' of ${what} must be a list of guards: { name, check }`)
}

/** Wraps a definition. */
export function makeSection(definition: SectionDefinition): Section<never> {
  return { [brand]: definition, key: definition.key, title: definition.title }
}

/** The definition behind a section; throws CONFIG for anything else, which `what` names. */
export function definitionOfSection(value: unknown, what: string): SectionDefinition {
  if (isObject(value) && brand in value) return (value as unknown as Section)[brand]
  const late = value instanceof Promise
  throw new ToolError(
    'CONFIG',
    `${what} is ${late ? 'a promise' : 'no section'}: ${late ? 'write await before it' : 'make it with section({ key, title, body })'}`,
  )
}

/** Runs what may fail in a section, and says in which. */
export function named<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw nameFailure(what, error)
  }
}

/** The failure with the name of the place that it comes from. */
export function nameFailure(what: string, error: unknown, code = 'CONFIG'): ToolError {
  const { suggestion, details, field } = ToolError.is(error) ? error : ({} as Partial<ToolError>)
  const message = error instanceof Error ? error.message : String(error)
  return new ToolError(ToolError.is(error) ? error.code : code, `${what}: ${message}`, {
    cause: error,
    ...(suggestion && { suggestion }),
    ...(details && { details }),
    ...(field !== undefined && { field }),
  })
}
