import type { DocGroup, DocModel, DocTool } from '../../model/model.ts'
import { makeSlugs } from '../../model/slug.ts'
import { markComment } from '../../mark.ts'
import { joinBlocks } from '../../markdown/blocks.ts'
import { inline } from '../../markdown/inline.ts'
import { groupCounts, groupTitle } from '../../sections/commands.ts'
import { toolSection } from '../../sections/tool.ts'
import type { GeneratedFile } from '../generated-file.ts'

/** Files beside the skill, relative to `references/`, and the links that lead to them. */
export type References<About> = {
  readonly files: readonly GeneratedFile[]
  readonly linkOf: (about: About) => string
}

/** One file for each tool. */
export function toolReferences(model: DocModel): References<DocTool> {
  const slugOf = makeSlugs()
  const names = new Map(model.tools.map((tool) => [tool, `${slugOf(tool.name)}.md`]))
  return {
    files: [...names].map(([tool, path]) => ({ path, text: page(model, [toolSection(tool, 1)]) })),
    linkOf: (tool) => `[${names.get(tool)}](references/${names.get(tool)})`,
  }
}

/** One file for each group of tools. */
export function groupReferences(model: DocModel): References<DocGroup> {
  return {
    files: model.groups.map((group) => ({
      path: `${group.slug}.md`,
      text: page(model, [
        `# ${inline(groupTitle(group))}`,
        ...group.tools.map((tool) => toolSection(tool, 2)),
      ]),
    })),
    linkOf: (group) => `[${inline(groupTitle(group))}](references/${group.slug}.md)`,
  }
}

/** One more file that leads to those of the groups. */
export function groupIndex(model: DocModel): GeneratedFile {
  return {
    path: 'index.md',
    text: page(model, [
      '# Groups of commands',
      groupCounts(model, (group) => `[${inline(groupTitle(group))}](${group.slug}.md)`),
    ]),
  }
}

function page(model: DocModel, blocks: readonly string[]): string {
  return `${joinBlocks([markComment(model, 'skill'), ...blocks])}\n`
}
