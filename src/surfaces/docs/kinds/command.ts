import { markComment } from '../mark.ts'
import { bullets, joinBlocks, titled } from '../markdown/blocks.ts'
import { frontmatter } from '../markdown/frontmatter.ts'
import { code, inline } from '../markdown/inline.ts'
import type { DocModel, DocTool } from '../model/model.ts'
import { cutText } from '../model/tidy-text.ts'
import { calmWords } from '../model/touchy.ts'
import { endSentence, errorSection } from '../sections/errors.ts'
import { ruleOf } from '../sections/rules.ts'
import { toolDetails } from '../sections/tool.ts'
import type { GeneratedFile } from './generated-file.ts'

/** A slash command of Claude Code for each tool. */
export function writeCommands(model: DocModel): GeneratedFile[] {
  return model.tools.map((tool) => ({
    path: `.claude/commands/${tool.name}.md`,
    text: commandPage(model, tool),
  }))
}

function commandPage(model: DocModel, tool: DocTool): string {
  const head = frontmatter({
    description: calmWords(tool.summary),
    'argument-hint': tool.usage === '' ? undefined : calmWords(cutText(tool.usage, 100)),
    // A person is asked before anything destructive runs, and only a person starts it.
    'allowed-tools': tool.destructive ? undefined : `Bash(${tool.command}:*)`,
    'disable-model-invocation': tool.destructive ? true : undefined,
  })
  return `${head}\n${joinBlocks([
    `Call ${code(tool.command)} for the user: ${endSentence(inline(tool.summary))}`,
    // The one placeholder that Claude Code is meant to fill.
    'What the user wrote: $ARGUMENTS',
    bullets([
      'Take the parameters from that. Ask for a required one that is missing; do not invent values.',
      ...(tool.parameters.length === 0
        ? [`Run ${code(`${tool.command} --json`)}.`]
        : [`Run ${code(`${tool.command} '{"field":"value"}' --json`)} or say the same in flags.`]),
      ...[ruleOf(tool)].filter((rule) => rule !== undefined),
      `Tell the user what ${code('result')} says, or what ${code('error')} says and what to do about it.`,
    ]),
    ...toolDetails(tool, 2),
    titled(2, 'When it fails', [errorSection()]),
    // Each stands for itself, whether all were asked for or one.
    markComment({ ...model, only: [tool.name] }, 'command'),
  ])}\n`
}
