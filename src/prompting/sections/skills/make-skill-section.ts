import { ToolError } from '../../../contract/tool-error.ts'
import { checkOptions } from '../../../define/names.ts'
import { collectTools } from '../../../call/collect.ts'
import { host } from '../../../call/host.ts'
import { commonParts, makeSection, named } from '../section.ts'
import type { Section, SectionOptions } from '../section-type.ts'
import { tidy } from '../template.ts'
import { loadSkill } from './load-skill.ts'
import type { SkillSectionOptions } from './skill-options.ts'

const OPTIONS = [
  'key',
  'title',
  'summary',
  'tools',
  'guards',
  'enabled',
  'visibility',
  'children',
  'cwd',
] as const satisfies readonly (keyof SkillSectionOptions)[]

/** Reads the folder of a skill and makes a section of it. */
export async function makeSkillSection(
  folder: string,
  options: SkillSectionOptions,
): Promise<Section> {
  if (typeof folder !== 'string' || folder === '')
    throw new ToolError('CONFIG', 'skillSection() takes the path of a folder with a SKILL.md')
  checkOptions('skillSection()', options, OPTIONS)
  const skill = await loadSkill(folder, options.cwd ?? host.cwd())
  const { heading, text } = splitHeading(tidy(skill.text))
  const {
    key = skill.name,
    title = heading ?? skill.name,
    visibility = 'summary',
    tools = [],
    cwd: _cwd,
    ...rest
  } = options
  const what = `section '${key}'`
  const entries = named(what, () => collectTools(tools)).map((entry) => ({ entry }))
  return makeSection({
    ...commonParts(
      what,
      { ...rest, key, title, visibility } as SectionOptions,
      () => skill.description,
    ),
    params: undefined,
    // The text of somebody else is no template: braces in it stay.
    body: () =>
      [text, listFiles(skill.name, skill.files)].filter((part) => part !== '').join('\n\n'),
    tools: () => entries,
    skill,
  })
}

// The section has a heading of its own; the first one of the text would say it twice.
function splitHeading(text: string): {
  readonly heading: string | undefined
  readonly text: string
} {
  const heading = /^# +([^\n]*[^\s#])[ #]*(?:\n|$)/.exec(text)
  return heading
    ? { heading: heading[1], text: tidy(text.slice(heading[0].length)) }
    : { heading: undefined, text }
}

function listFiles(name: string, files: readonly string[]): string {
  if (files.length === 0) return ''
  return [
    `Files of this skill, for \`read_skill_file\` with {"skill":"${name}","path":"..."}:`,
    '',
    ...files.map((file) => `- ${file}`),
  ].join('\n')
}
