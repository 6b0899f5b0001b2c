import { join } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'
import { unknownName } from '../../../contract/unknown-name.ts'
import { defineTool } from '../../../define/tool.ts'
import type { ToolDefinition } from '../../../define/tool-type.ts'
import { realBelow } from '../../../registry/folder/inside.ts'
import { SKILL_LIMITS } from './skill-limits.ts'
import type { SkillFolder } from './skill-type.ts'

/** The tool that reads the files of the skills that are open: only those that were there when the skill was loaded, and only inside of its folder. */
export function readSkillFile(skills: readonly SkillFolder[]): ToolDefinition {
  return defineTool({
    name: 'read_skill_file',
    summary: 'Read a text file of a skill.',
    annotations: { readOnly: true, idempotent: true, openWorld: false },
    input: {
      type: 'object',
      properties: {
        skill: {
          type: 'string',
          enum: skills.map(({ name }) => name),
          description: 'The name of the skill',
        },
        path: {
          type: 'string',
          minLength: 1,
          maxLength: 1000,
          description: 'The path of the file in the folder of the skill',
        },
      },
      required: ['skill', 'path'],
      additionalProperties: false,
    },
    run: (input) => {
      const { skill, path } = input as { readonly skill: string; readonly path: string }
      return read(
        skills.find(({ name }) => name === skill)!,
        path,
      )
    },
  })
}

async function read({ name, folder, files }: SkillFolder, given: string): Promise<string> {
  const path = given.replace(/^(?:\.\/)+/, '')
  if (!files.includes(path)) {
    const { message, meant } = unknownName('file', path, files)
    throw new ToolError(
      'NOT_FOUND',
      `${message} ${meant ? `(skill '${name}')` : `in skill '${name}'`}`,
      {
        details: { files: files.slice(0, 50) },
        suggestion: meant ? `Read '${meant}'` : `The files are ${files.slice(0, 20).join(', ')}`,
      },
    )
  }
  // Looked at again: the folder may have changed since it was loaded.
  const real = realBelow(folder, join(folder, path))
  if (real === undefined)
    throw new ToolError(
      'PERMISSION',
      `'${path}' of skill '${name}' is gone, or leads out of its folder`,
    )
  const { constants, open } = await import('node:fs/promises')
  // Whatever stands there now must not keep us waiting.
  const file = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    if (!(await file.stat()).isFile())
      throw new ToolError('PERMISSION', `'${path}' of skill '${name}' is no file any more`)
    const buffer = Buffer.alloc(SKILL_LIMITS.fileBytes + 1)
    const length = await fill(file, buffer)
    if (length > SKILL_LIMITS.fileBytes)
      throw new ToolError(
        'OUTPUT_LIMIT',
        `'${path}' of skill '${name}' has grown beyond ${SKILL_LIMITS.fileBytes} bytes`,
      )
    return decode(buffer.subarray(0, length), path)
  } finally {
    await file.close()
  }
}

async function fill(
  file: { read(buffer: Buffer, offset: number): Promise<{ readonly bytesRead: number }> },
  buffer: Buffer,
): Promise<number> {
  let length = 0
  for (let read = -1; read !== 0 && length < buffer.length; length += read)
    read = (await file.read(buffer, length)).bytesRead
  return length
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ToolError('INVALID_INPUT', `'${path}' is no text`, {
      field: 'path',
      suggestion: { action: 'abort', fix: 'Read text files only' },
    })
  }
}
