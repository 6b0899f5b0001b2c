import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { State } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { readEarly } from '../../define/early/read-schema.ts'
import { checkName, checkOptions, lookupKey } from '../../define/names.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import { isThunk } from '../../define/schema/source.ts'
import { findSections, openedSections, openIn } from './opened.ts'
import type { RenderOptions, SectionedPrompt, SectionsOptions } from './prompt-type.ts'
import { checkGuardList, definitionOfSection, named } from './section.ts'
import type { GivenFor, GivenTogether, Section } from './section-type.ts'
import { checkPlaces, checkToolNames, placeSections } from './tree.ts'
import type { PromptParts } from './tree.ts'

const OPTIONS = [
  'name',
  'sections',
  'params',
  'guards',
] as const satisfies readonly (keyof SectionsOptions)[]

/** Puts sections together to a prompt. Throws CONFIG, with the place, for keys and tool names that are there twice and for places that no params fill. */
export function sections<
  const Schema extends LazySchema | undefined = undefined,
  const Parts extends readonly Section[] = readonly [],
>(
  options: SectionsOptions<Schema, Parts>,
): SectionedPrompt<GivenFor<Schema> & GivenTogether<Parts>> {
  if (!isObject(options) || !Array.isArray(options.sections))
    throw new ToolError(
      'CONFIG',
      'sections() takes { name, sections: [section({ key, title, body })] }',
    )
  checkName('prompt', options.name)
  const { name, params, guards = [] } = options as SectionsOptions
  const what = `prompt '${name}'`
  checkOptions(what, options, OPTIONS)
  checkGuardList(what, guards)
  const definitions = options.sections.map((each, index) =>
    definitionOfSection(each, `section ${index + 1} of ${what}`),
  )
  const placed = named(what, () => {
    const all = placeSections(definitions)
    checkToolNames(all.values())
    checkPlaces(all.values(), early('its params', params), ({ key, params: own }) =>
      early(`the params of section '${key}'`, own),
    )
    return all
  })
  const parts: PromptParts = { name, sections: definitions, params, guards, placed }
  return {
    name,
    validate: async () => (await import('./validate.ts')).validatePrompt(parts),
    render: async (given?: unknown, how: RenderOptions = {}) =>
      (await import('./render.ts')).renderPrompt(parts, given, how),
    open: (wanted, state) => openIn(state, parts, wanted),
    close(state: State, keys) {
      const closed =
        keys && new Set(findSections(placed, keys).map(({ section }) => lookupKey(section.key)))
      state
        .get(openedSections)
        .clear(
          ({ prompt, section }) =>
            prompt === name && (closed === undefined || closed.has(lookupKey(section))),
        )
    },
  }
}

// Null: there are none. Undefined: only compiling can tell.
function early(what: string, params: LazySchema | undefined): JsonSchema | undefined | null {
  if (params === undefined) return null
  return isThunk(params) ? undefined : named(what, () => readEarly(params))
}
