import { promptSignature } from '../../cli/help/contents.ts'
import type { DocModel } from '../model/model.ts'
import { cutText, tidyLine } from '../model/tidy-text.ts'
import { bullets, titled } from '../markdown/blocks.ts'
import { code, inline } from '../markdown/inline.ts'

const LONGEST_TERM = 120

/** The resources and prompts of a program with the commands that read and render them; at most so many of each. */
export function contentSections(
  { name, resources, prompts }: DocModel,
  level: number,
  most = Infinity,
): string[] {
  return [
    resources.length === 0
      ? ''
      : titled(level, 'Resources', [
          listed(
            resources.map(({ uri, summary }) => `${term(uri)}: ${inline(summary)}`),
            most,
          ),
          `Read one: ${code(`${name} --resource <uri>`)}.`,
        ]),
    prompts.length === 0
      ? ''
      : titled(level, 'Prompts', [
          listed(
            prompts.map((prompt) => `${term(promptSignature(prompt))}: ${inline(prompt.summary)}`),
            most,
          ),
          `Render one: ${code(`${name} --prompt <name> '{"argument":"value"}'`)}.`,
        ]),
  ]
}

function listed(lines: readonly string[], most: number): string {
  return bullets(
    lines.length > most ? [...lines.slice(0, most), `${lines.length - most} more`] : lines,
  )
}

function term(text: string): string {
  return code(cutText(tidyLine(text), LONGEST_TERM))
}
