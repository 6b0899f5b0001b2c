import { readYaml } from '../../../contract/documents/read-yaml.ts'
import { isObject } from '../../../contract/json.ts'
import { shorten } from '../../../contract/shorten.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { SKILL_LIMITS } from './skill-limits.ts'
import type { SkillFolder } from './skill-type.ts'

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const HEAD = '---\nname: my-skill\ndescription: What it does, and when to use it\n---'

/** Reads a SKILL.md: its YAML head and the text below. Throws CONFIG, naming the file, for what no agent could use. */
export async function readHead(
  file: string,
  source: string,
): Promise<Pick<SkillFolder, 'name' | 'description' | 'text'>> {
  const lines = source
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .split('\n')
  const end =
    lines[0]?.trimEnd() === '---'
      ? lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
      : -1
  if (end === -1)
    throw refuse(file, 'has no head between two lines of ---', `Begin the file with\n${HEAD}`)
  // The dashes stay as an empty line, so that problems are told with the lines of the file.
  const { value } = await readYaml(file, ['', ...lines.slice(1, end)].join('\n'))
  const head = isObject(value) ? value : {}
  return {
    name: readName(file, head['name']),
    description: readDescription(file, head['description']),
    text: lines.slice(end + 1).join('\n'),
  }
}

function readName(file: string, name: unknown): string {
  if (typeof name === 'string' && name.length <= SKILL_LIMITS.name && NAME.test(name)) return name
  const found =
    name === undefined ? 'has no name' : `has the name ${shorten(JSON.stringify(name), 80)}`
  throw refuse(
    file,
    `${found}; a name is 1 to ${SKILL_LIMITS.name} small letters, digits and single '-' between them`,
    'Write name: my-skill into its head',
  )
}

function readDescription(file: string, description: unknown): string {
  const text = typeof description === 'string' ? description.trim() : ''
  if (text === '')
    throw refuse(
      file,
      'has no description',
      'Write description: What it does, and when to use it, into its head',
    )
  if (text.length > SKILL_LIMITS.description)
    throw refuse(
      file,
      `has a description of ${text.length} characters; ${SKILL_LIMITS.description} are allowed`,
      'Move the rest into the text',
    )
  return text
}

function refuse(file: string, problem: string, fix: string): ToolError {
  return new ToolError('CONFIG', `${file} ${problem}`, { details: { file }, suggestion: fix })
}
