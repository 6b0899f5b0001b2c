import type { PromptManifest, ResourceManifest, ToolsetOutline } from '../../contract/manifest.ts'

/** What `--discover` prints: everything a program offers, in short. */
export function discoverDocument({
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
    resources: resources.map(resourceEntry),
    prompts: prompts.map(promptEntry),
  }
}

/** What `--tools` prints. */
export function toolsDocument({ tools }: Pick<ToolsetOutline, 'tools'>): object {
  return { tools: tools.map(({ name, summary }) => ({ name, summary })) }
}

/** What `--resources` prints. */
export function resourcesDocument({ resources }: Pick<ToolsetOutline, 'resources'>): object {
  return { resources: resources.map(resourceEntry) }
}

/** What `--prompts` prints. */
export function promptsDocument({ prompts }: Pick<ToolsetOutline, 'prompts'>): object {
  return { prompts: prompts.map(promptEntry) }
}

/** A resource as these documents show it. */
export function resourceEntry({
  uri,
  name,
  title,
  summary,
  mimeTypes,
  tags,
}: ResourceManifest): object {
  return {
    uri_pattern: uri,
    ...(name !== undefined && { name }),
    ...(title !== undefined && { title }),
    summary,
    mime_types: mimeTypes,
    tags,
  }
}

/** A prompt as these documents show it; its arguments are a record of name and description. */
export function promptEntry({
  name,
  title,
  summary,
  arguments: parameters,
  tags,
}: PromptManifest): object {
  return {
    name,
    ...(title !== undefined && { title }),
    summary,
    arguments: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, parameter.description ?? '']),
    ),
    tags,
  }
}
