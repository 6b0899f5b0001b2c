import type { Guard } from '../../contract/guard.ts'
import { lookupKey } from '../../define/names.ts'
import type { ToolDefinition } from '../../define/tool-type.ts'
import { checkParams } from './check-params.ts'
import { decide, flatten } from './decide.ts'
import type { ShownSection } from './decide.ts'
import { findSections, openedIn, openIn } from './opened.ts'
import { openSections, readSection } from './own-tools.ts'
import type { RenderedPrompt, RenderOptions } from './prompt-type.ts'
import { rendered } from './rendered.ts'
import type { OfferedTool } from './rendered.ts'
import { named } from './section.ts'
import { checkToolNames, upwards } from './tree.ts'
import type { PromptParts } from './tree.ts'
import { writeSections } from './write-markdown.ts'

/** Checks the params, decides what is shown, and writes it. */
export async function renderPrompt(
  parts: PromptParts,
  given: unknown,
  { state, open = [] }: RenderOptions,
): Promise<RenderedPrompt> {
  const { name, placed, sections, guards } = parts
  const seen = await checkParams(parts, given)
  // What a snapshot remembers may be of a section that is gone.
  const remembered = openedIn(state, name).flatMap((key) => placed.get(lookupKey(key)) ?? [])
  const wanted = [...findSections(placed, open), ...remembered]
  await Promise.all([...placed.values()].map(async ({ section }) => section.prepare?.()))
  named(`prompt '${name}'`, () => checkToolNames(placed.values()))
  const shown = await decide(sections, guards, {
    prompt: name,
    seen,
    state,
    open: new Set(wanted.flatMap((here) => upwards(here).map(({ section }) => section))),
    placedOf: (section) => placed.get(lookupKey(section.key))!,
  })
  const text = await writeSections(shown)
  const all = await flatten(shown, false)
  const summarised = all
    .filter(({ summary }) => summary !== undefined)
    .map(({ placed: { section } }) => section.key)
  const isOpen = ({ summary }: ShownSection): boolean => summary === undefined
  return rendered({
    name,
    text,
    summarised,
    state,
    open(wanted, given) {
      const isKnown = wanted.every((key) => typeof key === 'string' && placed.has(lookupKey(key)))
      if (isKnown) openIn(given, parts, wanted)
      return isKnown
    },
    offered: [
      ...all.filter(isOpen).flatMap(offer),
      ...(await ownTools(shown, all.filter(isOpen), summarised.length > 0)).map((definition) =>
        offerOwn(definition, guards),
      ),
    ],
  })
}

function offer({ placed: { section }, guards }: ShownSection): readonly OfferedTool[] {
  return section.tools().map(({ entry, start }) => ({
    tool: {
      name: entry.name,
      path: entry.path,
      get definition() {
        return entry.definition
      },
      ...(entry.identity && { identity: entry.identity }),
      section: section.key,
      guards,
    },
    start,
  }))
}

function offerOwn(definition: ToolDefinition, guards: readonly Guard[]): OfferedTool {
  return {
    tool: {
      name: definition.name,
      path: [definition.name.replaceAll('_', '-')],
      definition,
      guards,
    },
    start: undefined,
  }
}

async function ownTools(
  shown: readonly ShownSection[],
  open: readonly ShownSection[],
  canOpen: boolean,
): Promise<readonly ToolDefinition[]> {
  const skills = open.flatMap(
    ({
      placed: {
        section: { skill },
      },
    }) => (skill && skill.files.length > 0 ? [skill] : []),
  )
  return [
    ...(skills.length > 0
      ? [(await import('./skills/read-skill-file.ts')).readSkillFile(skills)]
      : []),
    ...(canOpen ? [readSection(shown), openSections(shown)] : []),
  ]
}
