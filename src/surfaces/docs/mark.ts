import type { DocModel } from './model/model.ts'

/** The mark of a file that is ours altogether: whose it is, of what kind, and how to renew it. */
export function markText(model: DocModel, kind: string): string {
  return `${markStart(model.name, kind)} generated, edits are lost; renew with: ${renewCommand(model, kind)}`
}

/** The mark as a comment of Markdown. */
export function markComment(model: DocModel, kind: string): string {
  return `<!-- ${markText(model, kind)} -->`
}

/** The command that writes the files of a kind again. */
export function renewCommand({ name, only = [] }: DocModel, kind: string): string {
  return [name, 'docs', kind, ...only.flatMap((tool) => ['--tool', tool]), '--write'].join(' ')
}

/** True for a file that this program has generated as this kind of document. */
export function isMarked(text: string, program: string, kind: string): boolean {
  return new RegExp(
    `^(?:<!-- |\\.\\\\" | *"x-generated": ")${markStart(program, kind)} generated`,
    'm',
  ).test(text)
}

/** The lines around a block in a file that people also write. */
export function blockMarks(program: string): { readonly begin: string; readonly end: string } {
  return { begin: `<!-- toolable:${program} begin -->`, end: `<!-- toolable:${program} end -->` }
}

function markStart(program: string, kind: string): string {
  return `toolable:${program} docs ${kind}:`
}
