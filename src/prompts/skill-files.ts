/**
 * The files of an open skill: the `read_skill_file` tool, and Markdown nested below a section
 * heading.
 */

import { join } from 'node:path'
import type { ToolDefinition } from '../define/tool-types.ts'
import { defineTool } from '../define/tool.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { resolveBelow } from '../registry/folder/candidates.ts'
import { describeUnknownName } from '../util/text.ts'
import { MEBIBYTE } from '../util/units.ts'
import type { SkillFolder } from './section.ts'

/**
 * The tool that reads the files of the skills that are open: only those that were there when the
 * skill was loaded, and only inside of its folder.
 */
export function createReadSkillFileTool(skills: readonly SkillFolder[]): ToolDefinition {
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
      return readSkillText(
        skills.find(({ name }) => name === skill)!,
        path,
      )
    },
  })
}

async function readSkillText({ name, folder, files }: SkillFolder, given: string): Promise<string> {
  const path = given.replace(/^(?:\.\/)+/, '')
  if (!files.includes(path)) {
    const { message, meant } = describeUnknownName('file', path, files)
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
  const real = resolveBelow(folder, join(folder, path))
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
    const length = await fillBuffer(file, buffer)
    if (length > SKILL_LIMITS.fileBytes)
      throw new ToolError(
        'OUTPUT_LIMIT',
        `'${path}' of skill '${name}' has grown beyond ${SKILL_LIMITS.fileBytes} bytes`,
      )
    return decodeUtf8(buffer.subarray(0, length), path)
  } finally {
    await file.close()
  }
}

async function fillBuffer(
  file: { read(buffer: Buffer, offset: number): Promise<{ readonly bytesRead: number }> },
  buffer: Buffer,
): Promise<number> {
  let length = 0
  for (let read = -1; read !== 0 && length < buffer.length; length += read)
    read = (await file.read(buffer, length)).bytesRead
  return length
}

function decodeUtf8(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ToolError('INVALID_INPUT', `'${path}' is no text`, {
      field: 'path',
      suggestion: { action: 'abort', fix: 'Read text files only' },
    })
  }
}

const FENCE_PATTERN = /^ {0,3}(`{3,}|~{3,})/
const HEADING_PATTERN = /^( {0,3})(#{1,6})(?=[ \t]|$)/

/** Markdown of somebody else with its headings below a heading of the given level. */
export function nestHeadings(markdown: string, level: number): string {
  const lines = markdown.split('\n')
  const headings = findHeadings(lines)
  const by = level + 1 - Math.min(...headings.values())
  if (headings.size === 0 || by <= 0) return markdown
  return lines
    .map((line, index) =>
      headings.has(index)
        ? line.replace(
            HEADING_PATTERN,
            (_, space: string, marks: string) => space + '#'.repeat(Math.min(6, marks.length + by)),
          )
        : line,
    )
    .join('\n')
}

// By the numbers of their lines; a comment in a block of code is none.
function findHeadings(lines: readonly string[]): ReadonlyMap<number, number> {
  const headings = new Map<number, number>()
  let fence: string | undefined
  lines.forEach((line, index) => {
    const mark = FENCE_PATTERN.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
    } else if (mark !== undefined) fence = mark
    else {
      const marks = HEADING_PATTERN.exec(line)?.[2]
      if (marks !== undefined) headings.set(index, marks.length)
    }
  })
  return headings
}

/** The most that a skill may have. */
export const SKILL_LIMITS = {
  fileBytes: MEBIBYTE,
  bytes: 10 * MEBIBYTE,
  entries: 1000,
  depth: 10,
  name: 64,
  description: 1024,
} as const
