/**
 * The skill: `SKILL.md` of at most 8,000 bytes, and the rest in `references/`.
 */

import { formatExitCodes } from '../../cli/help-sections.ts'
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
import { getMarkComment } from '../model.ts'
import type { DocGroup, DocModel, DocTool, GeneratedFile } from '../model.ts'
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

type SkillVersion = { readonly text: string; readonly references: readonly GeneratedFile[] }

/**
 * A skill in the form of the open standard: `SKILL.md` of at most 8,000 bytes, and what does not
 * fit in `references/`. Paths begin with the name of the skill.
 */
export function writeSkill(model: DocModel): GeneratedFile[] {
  const folder = toSkillName(model.name)
  const { text, references } = pickFirstThatFits(
    listVersions(model),
    MAX_SKILL_BYTES,
    (version) => version.text,
  )
  return [
    { path: `${folder}/SKILL.md`, text },
    ...references.map((file) => ({ ...file, path: `${folder}/references/${file.path}` })),
  ]
}

// From rich to poor; many tools are a summary from the start.
function listVersions(model: DocModel): (() => SkillVersion)[] {
  const few = model.tools.length <= MAX_TOOLS_IN_FULL
  return [
    ...(few
      ? [
          () => renderInFull(model),
          () => renderInShort(model, FULL_DETAIL, listQuickLines(model)),
          () => renderInShort(model, FULL_DETAIL),
          () => renderInShort(model, SHORT_DETAIL),
          () => renderLinesByTool(model),
        ]
      : []),
    () => renderLinesByGroup(model, SHORT_DETAIL),
    () => renderLinesByGroup(model, MINIMAL_DETAIL),
    () => renderNames(model),
    () => renderCounts(model),
    () => renderWithoutList(model),
  ]
}

function renderInFull(model: DocModel): SkillVersion {
  return {
    text: renderSkillPage(
      model,
      FULL_DETAIL,
      listQuickLines(model),
      formatGroupSections(model, 3, formatToolSection),
    ),
    references: [],
  }
}

function renderInShort(
  model: DocModel,
  wealth: SkillDetail,
  quick: readonly string[] = [],
): SkillVersion {
  const { files, linkOf } = createToolReferences(model)
  return {
    text: renderSkillPage(
      model,
      wealth,
      quick,
      formatGroupSections(model, 3, (tool, level) =>
        formatShortToolSection(tool, level, `Details: ${linkOf(tool)}.`),
      ),
    ),
    references: files,
  }
}

function renderLinesByTool(model: DocModel): SkillVersion {
  const { files, linkOf } = createToolReferences(model)
  return {
    text: renderSkillPage(
      model,
      SHORT_DETAIL,
      [],
      [
        'Parameters, examples and errors are in the file of each command.',
        ...formatCommandLines(model, 3, { ofTool: linkOf }),
      ],
    ),
    references: files,
  }
}

function renderLinesByGroup(model: DocModel, wealth: SkillDetail): SkillVersion {
  const { files, linkOf } = createGroupReferences(model)
  return {
    text: renderSkillPage(
      model,
      wealth,
      [],
      formatCommandLines(model, 3, {
        ofGroup: (group) => `Parameters, examples and errors: ${linkOf(group)}.`,
      }),
    ),
    references: files,
  }
}

function renderNames(model: DocModel): SkillVersion {
  const { files, linkOf } = createGroupReferences(model)
  return {
    text: renderSkillPage(
      model,
      MINIMAL_DETAIL,
      [],
      [
        'Parameters, examples and errors are in the file of each group.',
        formatCommandNames(model, linkOf),
      ],
    ),
    references: files,
  }
}

function renderCounts(model: DocModel): SkillVersion {
  const { files, linkOf } = createGroupReferences(model)
  return {
    text: renderSkillPage(
      model,
      MINIMAL_DETAIL,
      [],
      ['The commands are in the file of their group.', formatGroupCounts(model, linkOf)],
    ),
    references: files,
  }
}

function renderWithoutList(model: DocModel): SkillVersion {
  const list = `${model.tools.length} commands in ${model.groups.length} groups: [all groups](references/index.md), or ${toCode(`${model.name} --help`)}.`
  return {
    text: renderSkillPage(model, MINIMAL_DETAIL, [], [list]),
    references: [createGroupIndex(model), ...createGroupReferences(model).files],
  }
}

function listQuickLines(model: DocModel): string[] {
  return model.single ? [] : [formatBullets(model.tools.map(formatToolLine))]
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
function renderSkillPage(
  model: DocModel,
  { description, named, contents, codes }: SkillDetail,
  quick: readonly string[],
  commands: readonly string[],
): string {
  const head = formatFrontmatter({
    name: toSkillName(model.name),
    description: describeWhenToUse(model, MAX_DESCRIPTION_CHARS),
    metadata: { version: model.version },
  })
  return `${head}\n${joinBlocks([
    model.unmarked ? '' : getMarkComment(model, 'skill'),
    `# ${toInline(model.name)}`,
    model.description === undefined
      ? ''
      : toParagraphs(truncateText(model.description, description)),
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
