/**
 * `mcp add|remove|list` and `skills add|remove|list`: install a program into the coding agents on
 * this machine.
 *
 * `agents/` has one file per agent and the table of them. `servers.ts` edits the MCP configuration
 * of an agent as text (`config-file.ts`, `formats/`), so that comments and layout of others
 * survive; `skills.ts` writes skill folders. Both mark what they wrote, so that removing it leaves
 * the files as they were.
 */

import type { BuiltinCommand, BuiltinFactory } from '../cli/types.ts'
import type { Servable } from '../core/tool.ts'
import { tool } from '../core/tool.ts'
import type { Context } from '../protocol/context.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { InstallScope } from './agents/agent.ts'
import { getAgentEnvironment } from './agents/agent.ts'
import { chooseAgents, CODING_AGENTS } from './agents/agents.ts'
import type { InstallResult } from './report.ts'
import { applyToAll, mergeResults, reportInstall, reportRemoval } from './report.ts'
import type { ServerInput } from './server-entry.ts'
import { createServerTarget, getLaunchCommand } from './server-entry.ts'
import type { ServerConfigFile } from './servers.ts'
import {
  addServer,
  listServerConfigs,
  listServers,
  removeServers,
  SERVER_AGENTS,
} from './servers.ts'
import { generateSkill } from './skill-folder.ts'
import type { SkillInstallFolder } from './skills.ts'
import { addSkill, listSkillFolders, listSkills, uninstallSkill } from './skills.ts'

/**
 * The commands that install the program into agents: `mcp add|remove|list` and `skills
 * add|remove|list`.
 */
export const installCommands: BuiltinFactory = (set, host) => [
  ...serverCommands(set, host),
  ...skillCommands(set, host),
]

type ServerInstallChoice = {
  readonly scope: InstallScope
  readonly agent?: readonly string[]
  readonly name?: string
  readonly force: boolean
}

const NOTHING_DONE: InstallResult = { rows: [], errors: [] }
const SERVER_AGENT_NAMES = SERVER_AGENTS.map(({ name }) => name)
const describeServerConfig = ({ agent, file }: ServerConfigFile) => ({
  target: file,
  details: { agents: [agent.name] },
})

/**
 * `mcp add`, `mcp remove` and `mcp list`: the program as an MCP server in the configuration of
 * agents.
 */
const serverCommands: BuiltinFactory = (set, host): readonly BuiltinCommand[] => {
  const add = tool({
    name: 'mcp_add',
    summary: 'Install this program as an MCP server into the agents on this machine',
    description:
      'Writes one entry into the configuration of each agent and marks it. What others wrote stays as it is; an entry of the same name that is not ours is a conflict.',
    input: objectSchema({
      scope: COMMAND_FIELDS.scope,
      agent: COMMAND_FIELDS.agents(SERVER_AGENT_NAMES),
      name: COMMAND_FIELDS.name(set.name),
      transport: {
        type: 'string',
        enum: ['stdio', 'http'],
        description:
          'stdio: the agent starts the program; http: it runs at --url. Default: http when there is a --url',
      },
      url: { type: 'string', description: 'Where the program is served over HTTP' },
      command: {
        type: 'string',
        minLength: 1,
        description: 'The program that the agent starts; default: as this one was started',
      },
      arg: {
        type: 'array',
        items: { type: 'string' },
        description: 'An argument before --serve-mcp stdio; may be repeated',
      },
      env: {
        type: 'array',
        items: { type: 'string' },
        description: 'NAME=value for the environment of the server; may be repeated',
      },
      force: {
        type: 'boolean',
        default: false,
        description: 'Replace an entry that somebody else wrote or changed',
      },
    }),
    annotations: { idempotent: true },
    dryRun: true,
    examples: [
      { description: 'See what would be written', args: ['--dry-run'] },
      {
        description: 'For every project of yours, in one agent',
        args: ['--scope', 'user', '--agent', 'codex'],
      },
      {
        description: 'In a form that works for a whole team',
        args: ['--command', 'npx', '--arg', '-y', '--arg', set.name],
      },
      { description: 'A server that runs already', args: ['--url', 'http://127.0.0.1:8080/mcp'] },
    ],
    async run(input, ctx) {
      const {
        scope,
        agent,
        name = set.name,
        force,
        ...wishes
      } = input as ServerInstallChoice & ServerInput
      const here = getAgentEnvironment(ctx)
      const server = createServerTarget(
        wishes,
        getLaunchCommand(host.started, set.name, scope, here),
      )
      const places = await listServerConfigs(
        chooseAgents(SERVER_AGENTS, agent, here, input),
        scope,
        here,
      )
      const servers = await applyToAll(
        places,
        describeServerConfig,
        async (place) => [await addServer(place, { program: set.name, name, server, force }, ctx)],
        ctx.signal,
      )
      // The author wants the skill to come with it.
      const skills = set.options.skillAutoGenerate
        ? await addSkills(set, compact({ scope, force, agent }), ctx)
        : NOTHING_DONE
      return reportInstall(ctx, mergeResults(servers, skills), input)
    },
  })

  const remove = tool({
    name: 'mcp_remove',
    summary: 'Take this program out of the configuration of agents',
    description:
      'Takes out exactly what mcp add wrote; a file is left as it was before. An entry that somebody changed since stays, unless --force.',
    input: objectSchema({
      scope: COMMAND_FIELDS.scope,
      agent: COMMAND_FIELDS.agents(SERVER_AGENT_NAMES),
      name: {
        ...COMMAND_FIELDS.name(set.name),
        description: 'Only the server of this name; default: all that this program wrote',
      },
      force: {
        type: 'boolean',
        default: false,
        description: 'Also an entry that somebody changed after it was installed',
      },
    }),
    annotations: { idempotent: true },
    dryRun: true,
    examples: [{ description: 'From this project', args: [] }],
    run: async (input, ctx) => removeFromAgents(set, input as ServerInstallChoice, ctx),
  })

  const list = tool({
    name: 'mcp_list',
    summary: 'List the agents and whether this program is installed in them',
    input: objectSchema({
      scope: COMMAND_FIELDS.bothScopes,
      agent: COMMAND_FIELDS.agents(SERVER_AGENT_NAMES),
      name: COMMAND_FIELDS.name(set.name),
    }),
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'In every agent', args: [] }],
    async run(input, ctx) {
      const { scope, agent, name } = input as Partial<ServerInstallChoice>
      const agents = SERVER_AGENTS.filter(
        (each) => agent === undefined || agent.includes(each.name),
      )
      return listServers(
        agents,
        scope ? [scope] : ['project', 'user'],
        set.name,
        name,
        getAgentEnvironment(ctx),
      )
    },
  })
  return [
    { path: ['mcp', 'add'], tool: add },
    { path: ['mcp', 'remove'], tool: remove },
    { path: ['mcp', 'list'], tool: list },
  ]
}

// Also from agents that are not found any more.
async function removeFromAgents(set: Servable, input: ServerInstallChoice, ctx: Context) {
  const { scope, agent, name, force } = input
  const agents = SERVER_AGENTS.filter((each) => agent === undefined || agent.includes(each.name))
  const places = await listServerConfigs(agents, scope, getAgentEnvironment(ctx))
  const servers = await applyToAll(
    places,
    describeServerConfig,
    (place) => removeServers(place, { program: set.name, name, force }, ctx),
    ctx.signal,
  )
  const skills = set.options.skillAutoGenerate ? await removeSkills(set, input, ctx) : NOTHING_DONE
  return reportRemoval(
    ctx,
    mergeResults(servers, skills),
    input,
    `nothing of ${set.name} is installed here`,
  )
}

/** Which agents, where, and whether what others wrote may go. */
type SkillInstallChoice = {
  readonly scope: InstallScope
  readonly agent?: readonly string[]
  readonly force: boolean
}

const CODING_AGENT_NAMES = CODING_AGENTS.map(({ name }) => name)
const describeSkillFolder = ({ folder, agents }: SkillInstallFolder) => ({
  target: folder,
  details: { agents },
})

/**
 * `skills add`, `skills remove` and `skills list`: a skill about the program in the folders of
 * agents.
 */
const skillCommands: BuiltinFactory = (set): readonly BuiltinCommand[] => {
  const add = tool({
    name: 'skills_add',
    summary: 'Install a skill about this program into the agents on this machine',
    description:
      'Writes SKILL.md and its references into the folder of each agent, and a file that says what was written. A folder of the same name that is not ours is a conflict.',
    input: objectSchema({
      scope: COMMAND_FIELDS.scope,
      agent: COMMAND_FIELDS.agents(CODING_AGENT_NAMES),
      force: {
        type: 'boolean',
        default: false,
        description: 'Replace files that somebody else wrote or changed',
      },
    }),
    annotations: { idempotent: true },
    dryRun: true,
    examples: [
      { description: 'See what would be written', args: ['--dry-run'] },
      { description: 'For every project of yours', args: ['--scope', 'user'] },
    ],
    run: async (input, ctx) =>
      reportInstall(ctx, await addSkills(set, input as SkillInstallChoice, ctx), input),
  })

  const remove = tool({
    name: 'skills_remove',
    summary: 'Take the skill about this program out of the folders of agents',
    description:
      'Takes out exactly what skills add wrote. Files that somebody changed since stay, unless --force.',
    input: objectSchema({
      scope: COMMAND_FIELDS.scope,
      agent: COMMAND_FIELDS.agents(CODING_AGENT_NAMES),
      force: {
        type: 'boolean',
        default: false,
        description: 'Also files that somebody changed after they were installed',
      },
    }),
    annotations: { idempotent: true },
    dryRun: true,
    examples: [{ description: 'From this project', args: [] }],
    run: async (input, ctx) =>
      reportRemoval(
        ctx,
        await removeSkills(set, input as SkillInstallChoice, ctx),
        input as SkillInstallChoice,
        `no skill of ${set.name} is installed here`,
      ),
  })

  const list = tool({
    name: 'skills_list',
    summary: 'List the agents and whether the skill about this program is installed and current',
    input: objectSchema({
      scope: COMMAND_FIELDS.bothScopes,
      agent: COMMAND_FIELDS.agents(CODING_AGENT_NAMES),
    }),
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'In every agent', args: [] }],
    async run(input, ctx) {
      const { scope, agent } = input as Partial<SkillInstallChoice>
      return listSkills(
        CODING_AGENTS.filter((each) => agent === undefined || agent.includes(each.name)),
        scope ? [scope] : ['project', 'user'],
        await generateSkill(set),
        getAgentEnvironment(ctx),
      )
    },
  })
  return [
    { path: ['skills', 'add'], tool: add },
    { path: ['skills', 'remove'], tool: remove },
    { path: ['skills', 'list'], tool: list },
  ]
}

/** Writes the skill of a program into the folders of the chosen agents, or plans to. */
async function addSkills(
  set: Servable,
  choice: SkillInstallChoice,
  ctx: Context,
): Promise<InstallResult> {
  const { scope, agent, force } = choice
  const here = getAgentEnvironment(ctx)
  const skill = await generateSkill(set)
  const places = listSkillFolders(
    chooseAgents(CODING_AGENTS, agent, here, choice),
    scope,
    skill.name,
    here,
  )
  return applyToAll(
    places,
    describeSkillFolder,
    async (place) => [
      await addSkill(place, skill, { force, dryRun: ctx.dryRun, signal: ctx.signal }),
    ],
    ctx.signal,
  )
}

/** Takes the skill of a program out of the folders of agents, or plans to. */
async function removeSkills(
  set: Servable,
  { scope, agent, force }: SkillInstallChoice,
  ctx: Context,
): Promise<InstallResult> {
  const skill = await generateSkill(set)
  const places = listSkillFolders(
    CODING_AGENTS.filter((each) => agent === undefined || agent.includes(each.name)),
    scope,
    skill.name,
    getAgentEnvironment(ctx),
  )
  return applyToAll(
    places,
    describeSkillFolder,
    async (place) => [
      await uninstallSkill(place, skill, { force, dryRun: ctx.dryRun, signal: ctx.signal }),
    ],
    ctx.signal,
  )
}

/** The fields that the commands share. */
const COMMAND_FIELDS = {
  scope: {
    type: 'string',
    enum: ['project', 'user'],
    default: 'project',
    description: 'For this folder, or for everything that you do',
  },
  bothScopes: {
    type: 'string',
    enum: ['project', 'user'],
    description: 'Only for this folder, or only for everything that you do',
  },
  agents: (names: readonly string[]): JsonSchema => ({
    type: 'array',
    items: { type: 'string', enum: names },
    minItems: 1,
    description: 'Only this agent, found or not; may be repeated',
  }),
  name: (program: string): JsonSchema => ({
    type: 'string',
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description: `The name of the server; default: ${program}`,
  }),
} as const

/** An object schema that knows only these fields. */
function objectSchema(properties: { readonly [field: string]: JsonSchema }): JsonSchema {
  return { type: 'object', properties, additionalProperties: false }
}
