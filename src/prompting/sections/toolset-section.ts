import { ToolError } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { checkOptions } from '../../define/names.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { Servable } from '../../call/servable.ts'
import { commonParts, makeSection } from './section.ts'
import type { MountedTool, Section, SectionOptions } from './section-type.ts'
import { readTemplate } from './template.ts'

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

const OPTIONS = [
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

/** Mounts a toolset or a registry as a section: key and title from its name, text from its description, and its tools as they are at each rendering. Throws CONFIG. */
export function toolsetSection(mounted: Servable, options: ToolsetSectionOptions = {}): Section {
  if (typeof mounted?.find !== 'function' || typeof mounted.call !== 'function')
    throw new ToolError(
      'CONFIG',
      `toolsetSection() takes a toolset or a registry${(mounted as unknown) instanceof Promise ? ', and got a promise: write await before it' : ''}`,
    )
  checkOptions('toolsetSection()', options, OPTIONS)
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
    selected(what, mounted, only).map((entry) => ({
      entry,
      start: async (input, given) => ({ outcome: await mounted.call(idOf(entry), input, given) }),
    }))
  const { description = '' } = mounted.options
  return makeSection({
    ...commonParts(
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
        ? readTemplate(`'body' of ${what}`, body)
        : (body ?? (() => description)),
    tools,
    ...(mounted.prepare && { prepare: () => mounted.prepare!() }),
  })
}

function selected(
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
            unknownName(
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
function idOf(entry: ToolEntry & { readonly id?: string }): string {
  return entry.id ?? entry.name
}
