import {
  escapeWordPlaceholders,
  formatBullets,
  formatFrontmatter,
  formatTitled,
  joinBlocks,
  toCode,
  toInline,
  truncateText,
} from '../markdown.ts'
import type { DocKind, DocModel, DocTool, GeneratedFile } from '../model.ts'
import { getMarkComment } from '../model.ts'
import { endSentence, formatErrorSection, formatToolDetails, getRule } from '../sections.ts'

/** Slash commands of Claude Code. */
export const kind: DocKind = {
  make: ({ model }) => writeSlashCommands(model),
  // Those of the other tools are not left over when only some are asked for.
  ownFolder: ({ model }) => (model.only ? undefined : '.claude/commands'),
  many: true,
}

/** A slash command of Claude Code for each tool. */
export function writeSlashCommands(model: DocModel): GeneratedFile[] {
  return model.tools.map((tool) => ({
    path: `.claude/commands/${tool.name}.md`,
    text: renderCommandPage(model, tool),
  }))
}

function renderCommandPage(model: DocModel, tool: DocTool): string {
  const head = formatFrontmatter({
    description: escapeWordPlaceholders(tool.summary),
    'argument-hint':
      tool.usage === '' ? undefined : escapeWordPlaceholders(truncateText(tool.usage, 100)),
    // A person is asked before anything destructive runs, and only a person starts it.
    'allowed-tools': tool.destructive ? undefined : `Bash(${tool.command}:*)`,
    'disable-model-invocation': tool.destructive ? true : undefined,
  })
  return `${head}\n${joinBlocks([
    `Call ${toCode(tool.command)} for the user: ${endSentence(toInline(tool.summary))}`,
    // The one placeholder that Claude Code is meant to fill.
    'What the user wrote: $ARGUMENTS',
    formatBullets([
      'Take the parameters from that. Ask for a required one that is missing; do not invent values.',
      tool.parameters.length === 0
        ? `Run ${toCode(`${tool.command} --json`)}.`
        : `Run ${toCode(`${tool.command} '{"field":"value"}' --json`)} or say the same in flags.`,
      getRule(tool),
      `Tell the user what ${toCode('result')} says, or what ${toCode('error')} says and what to do about it.`,
    ]),
    ...formatToolDetails(tool, 2),
    formatTitled(2, 'When it fails', [formatErrorSection()]),
    // Each stands for itself, whether all were asked for or one.
    getMarkComment({ ...model, only: [tool.name] }, 'command'),
  ])}\n`
}
