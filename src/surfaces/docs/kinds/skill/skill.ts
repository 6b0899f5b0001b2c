import type { DocModel } from '../../model/model.ts'
import { skillName } from '../../model/slug.ts'
import { bullets } from '../../markdown/blocks.ts'
import { code } from '../../markdown/inline.ts'
import { commandLines, commandNames, groupCounts, groupSections } from '../../sections/commands.ts'
import { shortToolSection, toolLine, toolSection } from '../../sections/tool.ts'
import { firstThatFits } from '../fit.ts'
import type { GeneratedFile } from '../generated-file.ts'
import { skillPage } from './page.ts'
import type { Wealth } from './page.ts'
import { groupIndex, groupReferences, toolReferences } from './references.ts'

const MOST_BYTES = 8000
const MOST_TOOLS_IN_FULL = 20

const RICH: Wealth = { description: 2000, named: 8, contents: 20, codes: true }
const PLAIN: Wealth = { description: 600, named: 8, contents: 5, codes: false }
const POOR: Wealth = { description: 300, named: 0, contents: 0, codes: false }

type Version = { readonly text: string; readonly references: readonly GeneratedFile[] }

/** A skill in the form of the open standard: `SKILL.md` of at most 8,000 bytes, and what does not fit in `references/`. Paths begin with the name of the skill. */
export function writeSkill(model: DocModel): GeneratedFile[] {
  const folder = skillName(model.name)
  const { text, references } = firstThatFits(
    listVersions(model),
    MOST_BYTES,
    (version) => version.text,
  )
  return [
    { path: `${folder}/SKILL.md`, text },
    ...references.map((file) => ({ ...file, path: `${folder}/references/${file.path}` })),
  ]
}

// From rich to poor; many tools are a summary from the start.
function listVersions(model: DocModel): (() => Version)[] {
  const few = model.tools.length <= MOST_TOOLS_IN_FULL
  return [
    ...(few
      ? [
          () => inFull(model),
          () => inShort(model, RICH, quickLines(model)),
          () => inShort(model, RICH),
          () => inShort(model, PLAIN),
          () => linesByTool(model),
        ]
      : []),
    () => linesByGroup(model, PLAIN),
    () => linesByGroup(model, POOR),
    () => names(model),
    () => counts(model),
    () => noList(model),
  ]
}

function inFull(model: DocModel): Version {
  return {
    text: skillPage(model, RICH, quickLines(model), groupSections(model, 3, toolSection)),
    references: [],
  }
}

function inShort(model: DocModel, wealth: Wealth, quick: readonly string[] = []): Version {
  const { files, linkOf } = toolReferences(model)
  return {
    text: skillPage(
      model,
      wealth,
      quick,
      groupSections(model, 3, (tool, level) =>
        shortToolSection(tool, level, `Details: ${linkOf(tool)}.`),
      ),
    ),
    references: files,
  }
}

function linesByTool(model: DocModel): Version {
  const { files, linkOf } = toolReferences(model)
  return {
    text: skillPage(
      model,
      PLAIN,
      [],
      [
        'Parameters, examples and errors are in the file of each command.',
        ...commandLines(model, 3, { ofTool: linkOf }),
      ],
    ),
    references: files,
  }
}

function linesByGroup(model: DocModel, wealth: Wealth): Version {
  const { files, linkOf } = groupReferences(model)
  return {
    text: skillPage(
      model,
      wealth,
      [],
      commandLines(model, 3, {
        ofGroup: (group) => `Parameters, examples and errors: ${linkOf(group)}.`,
      }),
    ),
    references: files,
  }
}

function names(model: DocModel): Version {
  const { files, linkOf } = groupReferences(model)
  return {
    text: skillPage(
      model,
      POOR,
      [],
      [
        'Parameters, examples and errors are in the file of each group.',
        commandNames(model, linkOf),
      ],
    ),
    references: files,
  }
}

function counts(model: DocModel): Version {
  const { files, linkOf } = groupReferences(model)
  return {
    text: skillPage(
      model,
      POOR,
      [],
      ['The commands are in the file of their group.', groupCounts(model, linkOf)],
    ),
    references: files,
  }
}

function noList(model: DocModel): Version {
  const list = `${model.tools.length} commands in ${model.groups.length} groups: [all groups](references/index.md), or ${code(`${model.name} --help`)}.`
  return {
    text: skillPage(model, POOR, [], [list]),
    references: [groupIndex(model), ...groupReferences(model).files],
  }
}

function quickLines(model: DocModel): string[] {
  return model.single ? [] : [bullets(model.tools.map(toolLine))]
}
