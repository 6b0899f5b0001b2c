import type { Guard } from '../../contract/guard.ts'
import type { State } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { SeenParams } from './check-params.ts'
import { nameFailure } from './section.ts'
import type { SectionDefinition } from './section-type.ts'
import { fillTemplate, tidy } from './template.ts'
import type { Placed } from './tree.ts'

/** A section that is there, for one rendering. */
export type ShownSection = {
  readonly placed: Placed
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
export type Deciding = {
  readonly prompt: string
  readonly seen: SeenParams
  readonly state: State | undefined
  /** Sections that are open, and those around them. */ readonly open: ReadonlySet<SectionDefinition>
  placedOf(section: SectionDefinition): Placed
}

/** The enabled ones of some sections, in order. Functions of authors run one after another, so that they always run in the same order. */
export async function decide(
  sections: readonly SectionDefinition[],
  guards: readonly Guard[],
  how: Deciding,
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
        throw nameFailure(`'${part}' of ${what}`, error, 'INTERNAL')
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
      summary: !isSummary
        ? undefined
        : typeof section.summary === 'function'
          ? section.summary()
          : fillTemplate(section.summary!, params),
      body: once(async () => {
        const { body } = section
        if (body === undefined || typeof body === 'object')
          return body ? fillTemplate(body, params) : ''
        const text: unknown = await ask<string>('body', body)
        if (typeof text !== 'string')
          throw new ToolError(
            'CONFIG',
            `'body' of ${what} gave ${text === null ? 'null' : typeof text} where Markdown is expected`,
            { suggestion: 'Return a text from the function' },
          )
        return section.skill
          ? (await import('./skills/nest-headings.ts')).nestHeadings(text, placed.depth)
          : tidy(text)
      }),
      children: once(() => decide(section.children, own, how)),
    })
  }
  return shown
}

/** Sections and all that are below them, depth first; below what is summarised only where `deep`. */
export async function flatten(
  sections: readonly ShownSection[],
  deep: boolean,
): Promise<readonly ShownSection[]> {
  const all: ShownSection[] = []
  for (const section of sections)
    all.push(
      section,
      ...(section.summary === undefined || deep
        ? await flatten(await section.children(), deep)
        : []),
    )
  return all
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
