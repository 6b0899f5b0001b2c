/**
 * Reads a skill folder: its files, the front matter of SKILL.md, and the section made from both.
 */

import { realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { host } from '../core/host.ts'
import { collectTools } from '../core/provider.ts'
import { checkOptions } from '../define/checks.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readYamlDocument } from '../protocol/yaml.ts'
import { resolveBelow } from '../registry/folder/candidates.ts'
import { shorten } from '../util/text.ts'
import { isObject } from '../util/values.ts'
import type { Section, SectionOptions, SkillFolder, SkillSectionOptions } from './section.ts'
import { createSection, readCommonOptions, withErrorContext } from './section.ts'
import { SKILL_LIMITS } from './skill-files.ts'
import { dedent } from './template.ts'

const SKILL_OPTION_NAMES = [
  'key',
  'title',
  'summary',
  'tools',
  'guards',
  'enabled',
  'visibility',
  'children',
  'cwd',
] as const satisfies readonly (keyof SkillSectionOptions)[]

/** Reads the folder of a skill and creates its section. */
export async function createSkillSection(
  folder: string,
  options: SkillSectionOptions,
): Promise<Section> {
  if (typeof folder !== 'string' || folder === '')
    throw new ToolError('CONFIG', 'skillSection() takes the path of a folder with a SKILL.md')
  checkOptions('skillSection()', options, SKILL_OPTION_NAMES)
  const skill = await loadSkill(folder, options.cwd ?? host.cwd())
  const { heading, text } = splitHeading(dedent(skill.text))
  const {
    key = skill.name,
    title = heading ?? skill.name,
    visibility = 'summary',
    tools = [],
    cwd: _cwd,
    ...rest
  } = options
  const what = `section '${key}'`
  const entries = withErrorContext(what, () => collectTools(tools)).map((entry) => ({ entry }))
  return createSection({
    ...readCommonOptions(
      what,
      { ...rest, key, title, visibility } as SectionOptions,
      () => skill.description,
    ),
    params: undefined,
    // The text of a skill is no template: braces in it stay.
    body: () =>
      [text, renderFileList(skill.name, skill.files)].filter((part) => part !== '').join('\n\n'),
    tools: () => entries,
    skill,
  })
}

// The section has its own heading, so the first one of the text is removed.
function splitHeading(text: string): {
  readonly heading: string | undefined
  readonly text: string
} {
  const heading = /^# +([^\n]*[^\s#])[ #]*(?:\n|$)/.exec(text)
  return heading
    ? { heading: heading[1], text: dedent(text.slice(heading[0].length)) }
    : { heading: undefined, text }
}

function renderFileList(name: string, files: readonly string[]): string {
  if (files.length === 0) return ''
  return [
    `Files of this skill, for \`read_skill_file\` with {"skill":"${name}","path":"..."}:`,
    '',
    ...files.map((file) => `- ${file}`),
  ].join('\n')
}

/** Reads the folder of a skill. Throws INVALID_PATH when it is missing, CONFIG when it is invalid. */
async function loadSkill(path: string, cwd: string): Promise<SkillFolder> {
  const folder = resolveSkillFolder(resolve(cwd, path), path)
  const files = await listSkillFiles(folder)
  if (!files.includes('SKILL.md'))
    throw new ToolError('INVALID_PATH', `there is no SKILL.md in '${path}'`, {
      suggestion: 'Give the folder that holds the SKILL.md',
    })
  const { readFile } = await import('node:fs/promises')
  const head = await parseSkillFile(
    join(folder, 'SKILL.md'),
    await readFile(join(folder, 'SKILL.md'), 'utf8'),
  )
  return { ...head, folder, files: files.filter((file) => file !== 'SKILL.md') }
}

function resolveSkillFolder(folder: string, given: string): string {
  const refuse = (cause?: unknown): ToolError =>
    new ToolError('INVALID_PATH', `there is no folder '${given}'`, {
      cause,
      suggestion: 'Give the folder that holds the SKILL.md',
    })
  let real: string
  try {
    real = realpathSync.native(folder)
  } catch (error) {
    throw refuse(error)
  }
  if (!statSync(real).isDirectory()) throw refuse()
  return real
}

const SKILL_NAME_PATTERN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const FRONT_MATTER_EXAMPLE =
  '---\nname: my-skill\ndescription: What it does, and when to use it\n---'

/** Parses a SKILL.md: its front matter and the text below. Throws CONFIG, naming the file. */
async function parseSkillFile(
  file: string,
  source: string,
): Promise<Pick<SkillFolder, 'name' | 'description' | 'text'>> {
  const fail = (problem: string, fix: string): ToolError =>
    new ToolError('CONFIG', `${file} ${problem}`, { details: { file }, suggestion: fix })
  const lines = source
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n')
  const isFence = (line: string | undefined): boolean => line?.trimEnd() === '---'
  const end = isFence(lines[0]) ? lines.findIndex((line, index) => index > 0 && isFence(line)) : -1
  if (end === -1)
    throw fail(
      'has no head between two lines of ---',
      `Begin the file with\n${FRONT_MATTER_EXAMPLE}`,
    )
  // The dashes become an empty line, so that problems are reported with the lines of the file.
  const { value } = await readYamlDocument(file, ['', ...lines.slice(1, end)].join('\n'))
  const { name, description } = isObject(value) ? value : {}
  if (!isSkillName(name)) {
    const found =
      name === undefined ? 'has no name' : `has the name ${shorten(JSON.stringify(name), 80)}`
    throw fail(
      `${found}; a name is 1 to ${SKILL_LIMITS.name} small letters, digits and single '-' between them`,
      'Write name: my-skill into its head',
    )
  }
  const trimmed = typeof description === 'string' ? description.trim() : ''
  if (trimmed === '')
    throw fail(
      'has no description',
      'Write description: What it does, and when to use it, into its head',
    )
  if (trimmed.length > SKILL_LIMITS.description)
    throw fail(
      `has a description of ${trimmed.length} characters; ${SKILL_LIMITS.description} are allowed`,
      'Move the rest into the text',
    )
  return { name, description: trimmed, text: lines.slice(end + 1).join('\n') }
}

function isSkillName(name: unknown): name is string {
  return (
    typeof name === 'string' && name.length <= SKILL_LIMITS.name && SKILL_NAME_PATTERN.test(name)
  )
}

/**
 * Lists the files of a skill, sorted, without hidden ones. Throws CONFIG for links that lead out of
 * the folder, for special files, and beyond the limits.
 */
async function listSkillFiles(folder: string): Promise<readonly string[]> {
  const { readdir, stat } = await import('node:fs/promises')
  const fail = (problem: string, fix: string): ToolError =>
    new ToolError('CONFIG', `the skill in ${folder}: ${problem}`, {
      details: { folder },
      suggestion: fix,
    })
  const files: string[] = []
  let bytes = 0
  let entries = 0
  const add = async (path: string): Promise<void> => {
    const { size } = await stat(join(folder, path))
    bytes += size
    files.push(path)
    if (size > SKILL_LIMITS.fileBytes)
      throw fail(
        `'${path}' has ${size} bytes; a file of a skill may have ${SKILL_LIMITS.fileBytes}`,
        'Make it smaller, or take it out',
      )
    if (bytes > SKILL_LIMITS.bytes)
      throw fail(`its files have more than ${SKILL_LIMITS.bytes} bytes together`, 'Take some out')
  }
  const walk = async (below: readonly string[]): Promise<void> => {
    if (below.length > SKILL_LIMITS.depth)
      throw fail(
        `'${below.join('/')}' is nested more than ${SKILL_LIMITS.depth} deep`,
        'Move it up',
      )
    for (const entry of await readdir(join(folder, ...below), { withFileTypes: true })) {
      // `.git` and the like are not part of a skill.
      if (entry.name.startsWith('.')) continue
      const path = [...below, entry.name].join('/')
      if ((entries += 1) > SKILL_LIMITS.entries)
        throw fail(`it has more than ${SKILL_LIMITS.entries} files and folders`, 'Take some out')
      if (entry.isDirectory()) await walk([...below, entry.name])
      else if (entry.isFile()) await add(path)
      else if (!entry.isSymbolicLink())
        throw fail(`'${path}' is neither a file nor a folder`, 'Take it out')
      else {
        const real = resolveBelow(folder, join(folder, path))
        if (real === undefined)
          throw fail(
            `the link '${path}' leads out of the folder, or nowhere`,
            'Put a copy in its place',
          )
        // The files of a linked folder are listed in that folder.
        if ((await stat(real)).isFile()) await add(path)
      }
    }
  }
  await walk([])
  return files.sort((left, right) => (left < right ? -1 : 1))
}
