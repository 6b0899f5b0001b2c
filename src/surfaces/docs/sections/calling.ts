import type { DocModel } from '../model/model.ts'
import { bullets } from '../markdown/blocks.ts'
import { code } from '../markdown/inline.ts'

/** How input is given, what comes back, and where to find out more: true of every program. */
export function callingSection(model: DocModel): string {
  return bullets([inputPoint(model), answerPoint(), lessPoint(), morePoint(model)])
}

/** The same in two points. */
export function shortCallingSection(model: DocModel): string {
  return bullets([inputPoint(model), `${answerPoint()} ${morePoint(model)}`])
}

/** `prog <command>`, or `prog` where it is its only tool. */
export function anyCommand({ name, single }: DocModel): string {
  return single ? name : `${name} <command>`
}

function inputPoint(model: DocModel): string {
  return `Input: flags as shown, or one JSON object: ${code(`${anyCommand(model)} '{"field":"value"}'`)}; ${code('-')} reads the object from stdin.`
}

function answerPoint(): string {
  return `Answer: one JSON document on stdout in a pipe, or with ${code('--json')}: ${code('{"ok":true,"status":"success","result":…}')} or ${code('{"ok":false,"status":"error","error":{"code":…,"message":…,"suggestion":…}}')}. A failure exits with a status other than 0.`
}

function lessPoint(): string {
  return `Less of it: ${code('--fields a,b')}, ${code("--filter 'size>100'")}, ${code('--limit 20')}, ${code('--max-tokens 2000')}.`
}

function morePoint(model: DocModel): string {
  const any = anyCommand(model)
  return `More: ${[...(model.single ? [] : [code(`${model.name} --help`)]), code(`${any} --help`), `${code(`${any} --schema`)} (JSON Schema of input and output)`].join(', ')}.`
}
