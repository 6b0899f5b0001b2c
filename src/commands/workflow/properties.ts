/** The workflow that a command is about. */
export const WORKFLOW = {
  type: 'string',
  description:
    'A file (YAML or JSON), or the name of one in the folder workflows beside toolable.yaml',
} as const
