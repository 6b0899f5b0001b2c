/**
 * What a rendering shows: the params that each section sees, and which sections are enabled,
 * summarised or open.
 */

import { compileSchema } from '../define/schema/compile.ts'
import { checkExamples, issuesToError } from '../define/schema/issues.ts'
import type { CompiledSchema, LazySchema } from '../define/schema/source.ts'
import { resolveSchema } from '../define/schema/source.ts'
import type { Guard } from '../protocol/context.ts'
import type { State } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import { isObject, once } from '../util/values.ts'
import type { PlacedSection, SectionedPromptParts } from './section-tree.ts'
import { getDeclaredNames, validatePlaceholders, validateToolNames } from './section-tree.ts'
import type { SectionDefinition } from './section.ts'
import { addErrorContext, withErrorContext } from './section.ts'
import { dedent, renderTemplate } from './template.ts'

/** A section that is there, for one rendering. */
export type ShownSection = {
  readonly placed: PlacedSection
  /** Its summary is shown and nothing else. */
  readonly summary: string | undefined
  /** Those of the sections around it first. */
  readonly guards: readonly Guard[]
  /** The text of the section itself; made at the first look. */
  body(): Promise<string>
  /** The sections below it that are enabled; found at the first look. */
  children(): Promise<readonly ShownSection[]>
}

/** What decides how sections are shown. */
type VisibilityContext = {
  readonly prompt: string
  readonly seen: SectionParams
  readonly state: State | undefined
  /** Sections that are open, and those around them. */ readonly open: ReadonlySet<SectionDefinition>
  placedOf(section: SectionDefinition): PlacedSection
}

/**
 * The enabled ones of some sections, in order. Functions of authors run one after another, so that
 * they always run in the same order.
 */
export async function resolveVisibleSections(
  sections: readonly SectionDefinition[],
  guards: readonly Guard[],
  how: VisibilityContext,
): Promise<readonly ShownSection[]> {
  const shown: ShownSection[] = []
  for (const section of sections) {
    const placed = how.placedOf(section)
    const what = `section '${placed.path}' of prompt '${how.prompt}'`
    const params = how.seen.get(section)
    const context = { state: how.state }
    const ask = async <T>(
      part: string,
      given:
        T | ((params: never, context: { readonly state: State | undefined }) => T | Promise<T>),
    ): Promise<T> => {
      if (typeof given !== 'function') return given
      try {
        return await (given as (params: unknown, about: typeof context) => T | Promise<T>)(
          params,
          context,
        )
      } catch (error) {
        throw addErrorContext(`'${part}' of ${what}`, error, 'INTERNAL')
      }
    }
    const enabled: unknown = await ask('enabled', section.enabled)
    // The text 'no' would show what should be kept back.
    if (typeof enabled !== 'boolean')
      throw new ToolError(
        'CONFIG',
        `'enabled' of ${what} gave ${JSON.stringify(enabled) ?? typeof enabled} where true or false is expected`,
      )
    if (!enabled) continue
    const visibility: unknown = await ask('visibility', section.visibility)
    // A word that nobody knows must not show what should be kept back.
    if (visibility !== 'full' && visibility !== 'summary')
      throw new ToolError(
        'CONFIG',
        `'visibility' of ${what} gave ${JSON.stringify(visibility) ?? 'undefined'} where 'full' or 'summary' is expected`,
      )
    const isSummary = visibility === 'summary' && !how.open.has(section)
    if (isSummary && section.summary === undefined)
      throw new ToolError('CONFIG', `${what} shows its summary, but has none`, {
        suggestion: "Add summary: 'What it is about'",
      })
    const own = section.guards.length > 0 ? [...guards, ...section.guards] : guards
    shown.push({
      placed,
      guards: own,
      summary: isSummary ? renderSummary(section.summary, params) : undefined,
      body: once(async () => {
        const { body } = section
        if (body === undefined || typeof body === 'object')
          return body ? renderTemplate(body, params) : ''
        const text: unknown = await ask<string>('body', body)
        if (typeof text !== 'string')
          throw new ToolError(
            'CONFIG',
            `'body' of ${what} gave ${text === null ? 'null' : typeof text} where Markdown is expected`,
            { suggestion: 'Return a text from the function' },
          )
        return section.skill
          ? (await import('./skill-files.ts')).nestHeadings(text, placed.depth)
          : dedent(text)
      }),
      children: once(() => resolveVisibleSections(section.children, own, how)),
    })
  }
  return shown
}

/**
 * Sections and all that are below them, depth first; below what is summarised only where `deep`.
 */
export async function flattenSections(
  sections: readonly ShownSection[],
  deep: boolean,
): Promise<readonly ShownSection[]> {
  const all: ShownSection[] = []
  for (const section of sections)
    all.push(
      section,
      ...(section.summary === undefined || deep
        ? await flattenSections(await section.children(), deep)
        : []),
    )
  return all
}

function renderSummary(summary: SectionDefinition['summary'], params: unknown): string {
  if (summary === undefined) return ''
  return typeof summary === 'function' ? summary() : renderTemplate(summary, params)
}

/** The params of a prompt, ready to be checked: its own under `top`, the others by section. */
type CompiledParams = {
  readonly top: CompiledSchema | undefined
  readonly of: ReadonlyMap<SectionDefinition, CompiledSchema>
}

const compiledByPrompt = new WeakMap<SectionedPromptParts, CompiledParams>()

/**
 * Compiles the params of a prompt, once, and checks the places in texts for them; throws CONFIG
 * with the place.
 */
function compileParams(parts: SectionedPromptParts): CompiledParams {
  const known = compiledByPrompt.get(parts)
  if (known) return known
  const top = compileParamSchema(`the params of prompt '${parts.name}'`, parts.params)
  const of = new Map(
    [...parts.placed.values()].flatMap(({ section, path }) => {
      const schema = compileParamSchema(
        `the params of section '${path}' of prompt '${parts.name}'`,
        section.params,
      )
      return schema ? [[section, schema] as const] : []
    }),
  )
  withErrorContext(`prompt '${parts.name}'`, () =>
    validatePlaceholders(
      parts.placed.values(),
      top?.json ?? null,
      (section) => of.get(section)?.json ?? null,
    ),
  )
  const made = { top, of }
  compiledByPrompt.set(parts, made)
  return made
}

/** What each section sees of the params: its own, those of its parents, those of the prompt. */
type SectionParams = ReadonlyMap<SectionDefinition, unknown>

/**
 * Checks what was given for a prompt. Each schema takes the params that it declares; throws
 * INVALID_INPUT or MISSING_PARAM, naming the section.
 */
export async function validateParams(
  parts: SectionedPromptParts,
  given: unknown,
): Promise<SectionParams> {
  const what = `prompt '${parts.name}'`
  if (given !== undefined && !isObject(given))
    throw new ToolError('INVALID_INPUT', `the params of ${what} must be an object`, {
      suggestion: 'Give { name: value }',
    })
  const { top, of } = compileParams(parts)
  const values = given ?? {}
  rejectUnknownParams(what, values, [...(top ? [top] : []), ...of.values()])
  const above = top ? await validateWith(what, top, values) : {}
  const seen = new Map<SectionDefinition, unknown>()
  for (const { section, path, parent } of parts.placed.values()) {
    const outer = parent ? seen.get(parent.section) : above
    const schema = of.get(section)
    seen.set(
      section,
      schema
        ? mergeParams(outer, await validateWith(`section '${path}' of ${what}`, schema, values))
        : outer,
    )
  }
  return seen
}

function compileParamSchema(
  what: string,
  params: LazySchema | undefined,
): CompiledSchema | undefined {
  return params === undefined
    ? undefined
    : withErrorContext(what, () => compileSchema(resolveSchema(params), 'input'))
}

async function validateWith(
  what: string,
  schema: CompiledSchema,
  given: { readonly [name: string]: unknown },
): Promise<unknown> {
  const names = getDeclaredNames(schema.json)
  const own =
    names === undefined
      ? given
      : Object.fromEntries(
          names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
        )
  const checked = await schema.check(own)
  if (checked.ok) return checked.value
  throw addErrorContext(what, issuesToError(checked.issues, { what: 'params', input: own }))
}

function rejectUnknownParams(
  what: string,
  given: object,
  schemas: readonly CompiledSchema[],
): void {
  const declared = schemas.map(({ json }) => getDeclaredNames(json))
  if (declared.includes(undefined)) return
  const names = [...new Set(declared.flatMap((each) => each ?? []))]
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const { message, meant } = describeUnknownName('param', unknown, names)
  throw new ToolError('INVALID_INPUT', `${what}: ${message}`, {
    field: unknown,
    suggestion: meant ? `Rename ${unknown} to ${meant}` : `Remove ${unknown}`,
  })
}

function mergeParams(outer: unknown, own: unknown): unknown {
  return isObject(own) && isObject(outer) && Object.keys(outer).length > 0
    ? { ...outer, ...own }
    : own
}

/**
 * Compiles params and tools of all sections, enabled or not, and checks the examples of the tools;
 * throws CONFIG with the place.
 */
export async function validatePrompt(parts: SectionedPromptParts): Promise<void> {
  compileParams(parts)
  for (const { section, path } of parts.placed.values()) {
    await section.prepare?.()
    for (const { entry } of section.tools()) {
      try {
        await checkExamples(await entry.definition.compiled())
      } catch (error) {
        throw addErrorContext(`section '${path}' of prompt '${parts.name}'`, error)
      }
    }
  }
  validateToolNames(parts.placed.values())
}
