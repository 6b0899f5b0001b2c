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
import type { Servable } from '../core/provider.ts'
import { tool } from '../core/tool.ts'
import type { Context } from '../protocol/context.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { InstallScope } from './agents/agent.ts'
import { getAgentEnvironment } from './agents/agent.ts'
import {
  AGENT_NAMES,
  loadAgents,
  loadServerAgents,
  requireUsedAgents,
  SERVER_AGENT_NAMES,
} from './agents/agents.ts'
import type { InstallResult } from './report.ts'
import { applyToAll, mergeResults, reportInstall, reportRemoval } from './report.ts'
import type { ServerInput } from './server-entry.ts'
import { createServerTarget, getLaunchCommand } from './server-entry.ts'
import type { ServerConfigFile } from './servers.ts'
import { addServer, listServerConfigs, listServers, removeServers } from './servers.ts'
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

/** Which agents, where, and whether entries and files of others may be replaced. */
type InstallChoice = {
  readonly scope: InstallScope
  readonly agent?: readonly string[]
  readonly force: boolean
}
type ServerInstallChoice = InstallChoice & { readonly name?: string }

const CHANGES_AGENTS = { annotations: { idempotent: true }, dryRun: true } as const
const LISTS_AGENTS = {
  annotations: { readOnly: true, idempotent: true },
  examples: [{ description: 'In every agent', args: [] }],
} as const
const NOTHING_DONE: InstallResult = { rows: [], errors: [] }

/** `mcp add`, `mcp remove` and `mcp list`: the program as an MCP server of agents. */
const serverCommands: BuiltinFactory = (set, host): readonly BuiltinCommand[] => {
  const agent = agentsField(SERVER_AGENT_NAMES)
  const name = {
    type: 'string',
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description: `The name of the server; default: ${set.name}`,
  }
  const add = tool({
    name: 'mcp_add',
    summary: 'Install this program as an MCP server into the agents on this machine',
    description:
      'Writes one entry into the configuration of each agent and marks it. What others wrote stays as it is; an entry of the same name that is not ours is a conflict.',
    input: objectSchema({
      scope: SCOPE_FIELD,
      agent,
      name,
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
      arg: textsField('An argument before --serve-mcp stdio; may be repeated'),
      env: textsField('NAME=value for the environment of the server; may be repeated'),
      force: forceField('Replace an entry that somebody else wrote or changed'),
    }),
    ...CHANGES_AGENTS,
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
      const choice = input as ServerInstallChoice & ServerInput
      const here = getAgentEnvironment(ctx)
      const launch = getLaunchCommand(host.started, set.name, choice.scope, here)
      const server = createServerTarget(choice, launch)
      const known = await loadServerAgents(choice.agent)
      const agents = choice.agent ? known : requireUsedAgents(known, here, input)
      const request = {
        program: set.name,
        name: choice.name ?? set.name,
        server,
        force: choice.force,
      }
      const servers = await applyToAll(
        await listServerConfigs(agents, choice.scope, here),
        describeServerConfig,
        async (place) => [await addServer(place, request, ctx)],
        ctx.signal,
      )
      const { scope, force, agent: names } = choice
      // The author wants the skill to come with it.
      const skills = set.options.skillAutoGenerate
        ? await addSkills(set, compact({ scope, force, agent: names }), ctx)
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
      scope: SCOPE_FIELD,
      agent,
      name: {
        ...name,
        description: 'Only the server of this name; default: all that this program wrote',
      },
      force: forceField('Also an entry that somebody changed after it was installed'),
    }),
    ...CHANGES_AGENTS,
    examples: [{ description: 'From this project', args: [] }],
    async run(input, ctx) {
      const choice = input as ServerInstallChoice
      // Also from agents that are not used here any more.
      const agents = await loadServerAgents(choice.agent)
      const request = { program: set.name, name: choice.name, force: choice.force }
      const servers = await applyToAll(
        await listServerConfigs(agents, choice.scope, getAgentEnvironment(ctx)),
        describeServerConfig,
        (place) => removeServers(place, request, ctx),
        ctx.signal,
      )
      const skills = set.options.skillAutoGenerate
        ? await removeSkills(set, choice, ctx)
        : NOTHING_DONE
      const nothing = `nothing of ${set.name} is installed here`
      return reportRemoval(ctx, mergeResults(servers, skills), choice, nothing)
    },
  })

  const list = tool({
    name: 'mcp_list',
    summary: 'List the agents and whether this program is installed in them',
    input: objectSchema({ scope: BOTH_SCOPES_FIELD, agent, name }),
    ...LISTS_AGENTS,
    async run(input, ctx) {
      const { scope, agent: names, name: wanted } = input as Partial<ServerInstallChoice>
      return listServers(
        await loadServerAgents(names),
        scope ? [scope] : ['project', 'user'],
        set.name,
        wanted,
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

function describeServerConfig({ agent, file }: ServerConfigFile) {
  return { target: file, details: { agents: [agent.name] } }
}

/** `skills add`, `skills remove` and `skills list`: a skill about the program for agents. */
const skillCommands: BuiltinFactory = (set): readonly BuiltinCommand[] => {
  const agent = agentsField(AGENT_NAMES)
  const add = tool({
    name: 'skills_add',
    summary: 'Install a skill about this program into the agents on this machine',
    description:
      'Writes SKILL.md and its references into the folder of each agent, and a file that says what was written. A folder of the same name that is not ours is a conflict.',
    input: objectSchema({
      scope: SCOPE_FIELD,
      agent,
      force: forceField('Replace files that somebody else wrote or changed'),
    }),
    ...CHANGES_AGENTS,
    examples: [
      { description: 'See what would be written', args: ['--dry-run'] },
      { description: 'For every project of yours', args: ['--scope', 'user'] },
    ],
    run: async (input, ctx) =>
      reportInstall(ctx, await addSkills(set, input as InstallChoice, ctx), input),
  })

  const remove = tool({
    name: 'skills_remove',
    summary: 'Take the skill about this program out of the folders of agents',
    description:
      'Takes out exactly what skills add wrote. Files that somebody changed since stay, unless --force.',
    input: objectSchema({
      scope: SCOPE_FIELD,
      agent,
      force: forceField('Also files that somebody changed after they were installed'),
    }),
    ...CHANGES_AGENTS,
    examples: [{ description: 'From this project', args: [] }],
    async run(input, ctx) {
      const choice = input as InstallChoice
      const nothing = `no skill of ${set.name} is installed here`
      return reportRemoval(ctx, await removeSkills(set, choice, ctx), choice, nothing)
    },
  })

  const list = tool({
    name: 'skills_list',
    summary: 'List the agents and whether the skill about this program is installed and current',
    input: objectSchema({ scope: BOTH_SCOPES_FIELD, agent }),
    ...LISTS_AGENTS,
    async run(input, ctx) {
      const { scope, agent: names } = input as Partial<InstallChoice>
      return listSkills(
        await loadAgents(names),
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
  choice: InstallChoice,
  ctx: Context,
): Promise<InstallResult> {
  const here = getAgentEnvironment(ctx)
  const known = await loadAgents(choice.agent)
  const agents = choice.agent ? known : requireUsedAgents(known, here, choice)
  const skill = await generateSkill(set)
  const { dryRun, signal } = ctx
  return applyToAll(
    listSkillFolders(agents, choice.scope, skill.name, here),
    describeSkillFolder,
    async (place) => [await addSkill(place, skill, { force: choice.force, dryRun, signal })],
    signal,
  )
}

/** Removes the skill of a program from the folders of agents, or plans to. */
async function removeSkills(
  set: Servable,
  { scope, agent, force }: InstallChoice,
  ctx: Context,
): Promise<InstallResult> {
  const agents = await loadAgents(agent)
  const skill = await generateSkill(set)
  const { dryRun, signal } = ctx
  return applyToAll(
    listSkillFolders(agents, scope, skill.name, getAgentEnvironment(ctx)),
    describeSkillFolder,
    async (place) => [await uninstallSkill(place, skill, { force, dryRun, signal })],
    signal,
  )
}

function describeSkillFolder({ folder, agents }: SkillInstallFolder) {
  return { target: folder, details: { agents } }
}

const SCOPE_FIELD = {
  type: 'string',
  enum: ['project', 'user'],
  default: 'project',
  description: 'For this folder, or for everything that you do',
} as const
const BOTH_SCOPES_FIELD = {
  type: 'string',
  enum: ['project', 'user'],
  description: 'Only for this folder, or only for everything that you do',
} as const

function agentsField(names: readonly string[]): JsonSchema {
  return {
    type: 'array',
    items: { type: 'string', enum: names },
    minItems: 1,
    description: 'Only this agent, found or not; may be repeated',
  }
}

function textsField(description: string): JsonSchema {
  return { type: 'array', items: { type: 'string' }, description }
}

function forceField(description: string): JsonSchema {
  return { type: 'boolean', default: false, description }
}

/** An object schema that knows only these fields. */
function objectSchema(properties: { readonly [field: string]: JsonSchema }): JsonSchema {
  return { type: 'object', properties, additionalProperties: false }
}
