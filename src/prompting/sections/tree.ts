import type { Guard } from '../../contract/guard.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { lookupKey } from '../../define/names.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import { isDeclared } from './declared-params.ts'
import type { SectionDefinition } from './section-type.ts'
import type { Template } from './template.ts'

// Markdown has no headings below.
const DEEPEST = 6

/** The tools that a prompt has of its own. */
export const OWN_TOOLS = ['open_sections', 'read_section', 'read_skill_file'] as const

/** A section where it stands in its prompt. */
export type Placed = {
  readonly section: SectionDefinition
  /** The keys from the top, with dots. */ readonly path: string
  /** From 1. */ readonly depth: number
  readonly parent: Placed | undefined
}

/** What stands behind a prompt of sections. */
export type PromptParts = {
  readonly name: string
  readonly sections: readonly SectionDefinition[]
  readonly params: LazySchema | undefined
  readonly guards: readonly Guard[]
  readonly placed: ReadonlyMap<string, Placed>
}

/** All sections of a prompt by their keys, depth first. Throws CONFIG for keys that are there twice, and for what is nested deeper than headings go. */
export function placeSections(sections: readonly SectionDefinition[]): ReadonlyMap<string, Placed> {
  const placed = new Map<string, Placed>()
  const place = (section: SectionDefinition, parent: Placed | undefined): void => {
    const path = parent ? `${parent.path}.${section.key}` : section.key
    const depth = (parent?.depth ?? 0) + 1
    const other = placed.get(lookupKey(section.key))
    if (other)
      throw new ToolError(
        'CONFIG',
        `two sections have the key '${section.key}': '${other.path}' and '${path}'`,
        { suggestion: `Give one of them another key, for example '${section.key}_2'` },
      )
    if (depth > DEEPEST)
      throw new ToolError(
        'CONFIG',
        `section '${path}' is nested ${depth} deep; headings go ${DEEPEST} deep`,
        { suggestion: 'Move it up' },
      )
    const here: Placed = { section, path, depth, parent }
    placed.set(lookupKey(section.key), here)
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

/** Refuses two tools of one name, in whatever sections they are: what is not enabled or not open today may be tomorrow. */
export function checkToolNames(placed: Iterable<Placed>): void {
  const owners = new Map<string, { readonly name: string; readonly path: string }>()
  for (const { section, path } of placed) {
    for (const {
      entry: { name },
    } of section.tools()) {
      const key = lookupKey(name)
      if ((OWN_TOOLS as readonly string[]).includes(key))
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

/** Refuses places for params that neither the section nor what stands above it declares. `schemaOf` gives undefined where the schema is not known yet: then nothing is refused. */
export function checkPlaces(
  placed: Iterable<Placed>,
  top: JsonSchema | undefined | null,
  schemaOf: (section: SectionDefinition) => JsonSchema | undefined | null,
): void {
  for (const here of placed) {
    const schemas = [top, ...upwards(here).map(({ section }) => schemaOf(section))]
    if (schemas.includes(undefined)) continue
    const known = schemas.filter((schema) => schema !== null && schema !== undefined)
    for (const [part, template] of templatesOf(here.section)) {
      const unknown = template.places.find((path) => !isDeclared(known, path))
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
export function upwards(here: Placed): readonly Placed[] {
  return here.parent ? [here, ...upwards(here.parent)] : [here]
}

function templatesOf({
  body,
  summary,
}: SectionDefinition): (readonly ['body' | 'summary', Template])[] {
  return (
    [
      ['body', body],
      ['summary', summary],
    ] as const
  ).flatMap(([part, text]) => (typeof text === 'object' ? [[part, text] as const] : []))
}
