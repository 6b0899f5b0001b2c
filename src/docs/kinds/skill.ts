/**
 * The skill: `SKILL.md` of at most 8,000 bytes, and the rest in `references/`.
 */

import { formatExitCodes } from '../../cli/help-sections.ts'
import { once } from '../../util/values.ts'
import { describeWhenToUse, pickFirstThatFits } from '../fit-text.ts'
import {
  createSlugger,
  formatBullets,
  formatFrontmatter,
  formatTitled,
  joinBlocks,
  toCode,
  toInline,
  toParagraphs,
  toSkillName,
  truncateText,
} from '../markdown.ts'
import type { DocGroup, DocKind, DocModel, DocTool, GeneratedFile } from '../model.ts'
import { getMarkComment } from '../model.ts'
import {
  formatCallingSection,
  formatCommandLines,
  formatCommandNames,
  formatContentSections,
  formatErrorSection,
  formatGroupCounts,
  formatGroupSections,
  formatGroupTitle,
  formatRules,
  formatShortToolSection,
  formatToolLine,
  formatToolSection,
  listCommonCodes,
} from '../sections.ts'

const MAX_SKILL_BYTES = 8000
const MAX_TOOLS_IN_FULL = 20

const FULL_DETAIL: SkillDetail = { description: 2000, named: 8, contents: 20, codes: true }
const SHORT_DETAIL: SkillDetail = { description: 600, named: 8, contents: 5, codes: false }
const MINIMAL_DETAIL: SkillDetail = { description: 300, named: 0, contents: 0, codes: false }

/** One way to write a skill: how much `SKILL.md` says, and what is left to its references. */
type SkillVersion = {
  readonly detail: SkillDetail
  readonly quick?: readonly string[]
  readonly commands: readonly string[]
  readonly references: readonly GeneratedFile[]
}

/** The skill, in the folder that people publish skills from; `skills add` writes where agents look. */
export const kind: DocKind = {
  make: ({ model }) => writeSkill(model).map((file) => ({ ...file, path: `skills/${file.path}` })),
  ownFolder: ({ model }) => `skills/${toSkillName(model.name)}/references`,
}

/**
 * A skill in the form of the open standard: `SKILL.md` of at most 8,000 bytes, and what does not
 * fit in `references/`. Paths begin with the name of the skill.
 */
export function writeSkill(model: DocModel): GeneratedFile[] {
  const folder = toSkillName(model.name)
  const versions = listVersions(model).map((make) => () => {
    const version = make()
    return { text: renderSkillPage(model, version), references: version.references }
  })
  const { text, references } = pickFirstThatFits(versions, MAX_SKILL_BYTES)
  return [
    { path: `${folder}/SKILL.md`, text },
    ...references.map((file) => ({ ...file, path: `${folder}/references/${file.path}` })),
  ]
}

// From rich to poor; many tools are a summary from the start.
function listVersions(model: DocModel): (() => SkillVersion)[] {
  const isSmall = model.tools.length <= MAX_TOOLS_IN_FULL
  return [...(isSmall ? listVersionsByTool(model) : []), ...listVersionsByGroup(model)]
}

function listVersionsByTool(model: DocModel): (() => SkillVersion)[] {
  const getReferences = once(() => createToolReferences(model))
  const quick = model.single ? [] : [formatBullets(model.tools.map(formatToolLine))]
  const shorten = (detail: SkillDetail, lines: readonly string[]): SkillVersion => {
    const { files, linkOf } = getReferences()
    const commands = formatGroupSections(model, 3, (tool, level) =>
      formatShortToolSection(tool, level, `Details: ${linkOf(tool)}.`),
    )
    return { detail, quick: lines, commands, references: files }
  }
  return [
    () => ({
      detail: FULL_DETAIL,
      quick,
      commands: formatGroupSections(model, 3, formatToolSection),
      references: [],
    }),
    () => shorten(FULL_DETAIL, quick),
    () => shorten(FULL_DETAIL, []),
    () => shorten(SHORT_DETAIL, []),
    () => ({
      detail: SHORT_DETAIL,
      commands: [
        'Parameters, examples and errors are in the file of each command.',
        ...formatCommandLines(model, 3, { ofTool: getReferences().linkOf }),
      ],
      references: getReferences().files,
    }),
  ]
}

function listVersionsByGroup(model: DocModel): (() => SkillVersion)[] {
  const getReferences = once(() => createGroupReferences(model))
  const version = (detail: SkillDetail, commands: readonly string[]): SkillVersion => ({
    detail,
    commands,
    references: getReferences().files,
  })
  const formatLines = (): string[] =>
    formatCommandLines(model, 3, {
      ofGroup: (group) => `Parameters, examples and errors: ${getReferences().linkOf(group)}.`,
    })
  return [
    () => version(SHORT_DETAIL, formatLines()),
    () => version(MINIMAL_DETAIL, formatLines()),
    () =>
      version(MINIMAL_DETAIL, [
        'Parameters, examples and errors are in the file of each group.',
        formatCommandNames(model, getReferences().linkOf),
      ]),
    () =>
      version(MINIMAL_DETAIL, [
        'The commands are in the file of their group.',
        formatGroupCounts(model, getReferences().linkOf),
      ]),
    () => ({
      detail: MINIMAL_DETAIL,
      commands: [
        `${model.tools.length} commands in ${model.groups.length} groups: [all groups](references/index.md), or ${toCode(`${model.name} --help`)}.`,
      ],
      references: [createGroupIndex(model), ...getReferences().files],
    }),
  ]
}

const MAX_DESCRIPTION_CHARS = 300

/**
 * How much the page says around its commands: the poorer, the fewer names and texts of the author.
 */
type SkillDetail = {
  readonly description: number
  readonly named: number
  readonly contents: number
  readonly codes: boolean
}

/** `SKILL.md` with these lines in the quick reference and these commands. */
function renderSkillPage(model: DocModel, { detail, quick = [], commands }: SkillVersion): string {
  const { description, named, contents, codes } = detail
  const head = formatFrontmatter({
    name: toSkillName(model.name),
    description: describeWhenToUse(model, MAX_DESCRIPTION_CHARS),
    metadata: { version: model.version },
  })
  return `${head}\n${joinBlocks([
    model.unmarked ? '' : getMarkComment(model, 'skill'),
    `# ${toInline(model.name)}`,
    model.description && toParagraphs(truncateText(model.description, description)),
    formatTitled(2, 'Quick reference', [...quick, formatCallingSection(model)]),
    formatTitled(2, 'Rules', [formatRules(model, named)]),
    formatTitled(2, 'Commands', commands),
    ...formatContentSections(model, 2, contents),
    formatTitled(2, 'Errors', [formatErrorSection(codes ? listCommonCodes(model) : [])]),
    formatTitled(2, 'Exit codes', [`${formatExitCodes()}.`]),
  ])}\n`
}

/** Files beside the skill, relative to `references/`, and the links that lead to them. */
type SkillReferences<About> = {
  readonly files: readonly GeneratedFile[]
  readonly linkOf: (about: About) => string
}

/** One file for each tool. */
function createToolReferences(model: DocModel): SkillReferences<DocTool> {
  const slugOf = createSlugger()
  const names = new Map(model.tools.map((tool) => [tool, `${slugOf(tool.name)}.md`]))
  return {
    files: [...names].map(([tool, path]) => ({
      path,
      text: renderReferenceFile(model, [formatToolSection(tool, 1)]),
    })),
    linkOf: (tool) => `[${names.get(tool)}](references/${names.get(tool)})`,
  }
}

/** One file for each group of tools. */
function createGroupReferences(model: DocModel): SkillReferences<DocGroup> {
  return {
    files: model.groups.map((group) => ({
      path: `${group.slug}.md`,
      text: renderReferenceFile(model, [
        `# ${toInline(formatGroupTitle(group))}`,
        ...group.tools.map((tool) => formatToolSection(tool, 2)),
      ]),
    })),
    linkOf: (group) => `[${toInline(formatGroupTitle(group))}](references/${group.slug}.md)`,
  }
}

/** One more file that leads to those of the groups. */
function createGroupIndex(model: DocModel): GeneratedFile {
  return {
    path: 'index.md',
    text: renderReferenceFile(model, [
      '# Groups of commands',
      formatGroupCounts(
        model,
        (group) => `[${toInline(formatGroupTitle(group))}](${group.slug}.md)`,
      ),
    ]),
  }
}

function renderReferenceFile(model: DocModel, blocks: readonly string[]): string {
  return `${joinBlocks([getMarkComment(model, 'skill'), ...blocks])}\n`
}
