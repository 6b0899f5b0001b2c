/**
 * A prompt made of sections: `sections()`. Rendering and validation are loaded on first use.
 */

import { toLookupKey } from '../core/call.ts'
import { checkName, checkOptions } from '../define/checks.ts'
import { readInputSchemaEarly } from '../define/early-checks.ts'
import type { LazySchema } from '../define/schema/source.ts'
import { isSchemaThunk } from '../define/schema/source.ts'
import type { State } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'
import type {
  RenderOptions,
  SectionedPrompt,
  SectionedPromptParts,
  SectionsOptions,
} from './section-tree.ts'
import {
  findPlacedSections,
  openedSectionsSlice,
  openSectionsIn,
  placeSections,
  validatePlaceholders,
  validateToolNames,
} from './section-tree.ts'
import type { CombinedInputParams, InputParamsFor, Section } from './section.ts'
import { getSectionDefinition, validateGuards, withErrorContext } from './section.ts'

const SECTIONS_OPTION_NAMES = [
  'name',
  'sections',
  'params',
  'guards',
] as const satisfies readonly (keyof SectionsOptions)[]

/**
 * Puts sections together to a prompt. Throws CONFIG, with the place, for keys and tool names that
 * are there twice and for places that no params fill.
 */
export function sections<
  const Schema extends LazySchema | undefined = undefined,
  const Parts extends readonly Section[] = readonly [],
>(
  options: SectionsOptions<Schema, Parts>,
): SectionedPrompt<InputParamsFor<Schema> & CombinedInputParams<Parts>> {
  if (!isObject(options) || !Array.isArray(options.sections))
    throw new ToolError(
      'CONFIG',
      'sections() takes { name, sections: [section({ key, title, body })] }',
    )
  checkName('prompt', options.name)
  const { name, params, guards = [] } = options as SectionsOptions
  const what = `prompt '${name}'`
  checkOptions(what, options, SECTIONS_OPTION_NAMES)
  validateGuards(what, guards)
  const definitions = options.sections.map((each, index) =>
    getSectionDefinition(each, `section ${index + 1} of ${what}`),
  )
  const placed = withErrorContext(what, () => {
    const all = placeSections(definitions)
    validateToolNames(all.values())
    validatePlaceholders(
      all.values(),
      readEarlySchema('its params', params),
      ({ key, params: own }) => readEarlySchema(`the params of section '${key}'`, own),
    )
    return all
  })
  const parts: SectionedPromptParts = { name, sections: definitions, params, guards, placed }
  return {
    name,
    validate: async () => (await import('./resolve-sections.ts')).validatePrompt(parts),
    render: async (given?: unknown, how: RenderOptions = {}) =>
      (await import('./render.ts')).renderPrompt(parts, given, how),
    open: (wanted, state) => openSectionsIn(state, parts, wanted),
    close(state: State, keys) {
      const closed =
        keys &&
        new Set(findPlacedSections(placed, keys).map(({ section }) => toLookupKey(section.key)))
      state
        .get(openedSectionsSlice)
        .clear(
          ({ prompt, section }) =>
            prompt === name && (closed === undefined || closed.has(toLookupKey(section))),
        )
    },
  }
}

// Null: there are none. Undefined: only compiling can tell.
function readEarlySchema(
  what: string,
  params: LazySchema | undefined,
): JsonSchema | undefined | null {
  if (params === undefined) return null
  return isSchemaThunk(params)
    ? undefined
    : withErrorContext(what, () => readInputSchemaEarly(params))
}
