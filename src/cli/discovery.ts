/**
 * The short documents by which other programs find out what a program offers: `--discover`,
 * `--tools`, `--resources`, `--prompts`, and the probe of Simple JSON tools.
 */

import type { PromptManifest, ResourceManifest, ToolsetOutline } from '../protocol/manifest.ts'
import { compact } from '../util/values.ts'

/** What `--discover` prints: everything a program offers, in short. */
export function buildDiscoverDocument({
  name,
  version,
  tools,
  resources,
  prompts,
}: ToolsetOutline): object {
  return {
    name,
    version,
    tools: tools.map((tool) => ({
      name: tool.name,
      summary: tool.summary,
      streaming: tool.streaming,
      session_mode: tool.session,
    })),
    resources: resources.map(toResourceEntry),
    prompts: prompts.map(toPromptEntry),
  }
}

/** What `--tools` prints. */
export function buildToolsDocument({ tools }: Pick<ToolsetOutline, 'tools'>): object {
  return { tools: tools.map(({ name, summary }) => ({ name, summary })) }
}

/** What `--resources` prints. */
export function buildResourcesDocument({ resources }: Pick<ToolsetOutline, 'resources'>): object {
  return { resources: resources.map(toResourceEntry) }
}

/** What `--prompts` prints. */
export function buildPromptsDocument({ prompts }: Pick<ToolsetOutline, 'prompts'>): object {
  return { prompts: prompts.map(toPromptEntry) }
}

/** A resource as these documents show it. */
export function toResourceEntry({
  uri,
  name,
  title,
  summary,
  mimeTypes,
  tags,
}: ResourceManifest): object {
  return compact({ uri_pattern: uri, name, title, summary, mime_types: mimeTypes, tags })
}

/** A prompt as these documents show it; its arguments are a record of name and description. */
export function toPromptEntry({
  name,
  title,
  summary,
  arguments: parameters,
  tags,
}: PromptManifest): object {
  return compact({
    name,
    title,
    summary,
    arguments: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, parameter.description ?? '']),
    ),
    tags,
  })
}

/** The argument by which Simple JSON tools are found, byte for byte. */
export const SIMPLE_JSON_PROBE = '{"__test__": true}'

/** What such a tool answers. */
export const SIMPLE_JSON_ANSWER = { success: true, _simple: true } as const
