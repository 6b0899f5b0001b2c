/** The promises of section 7 of the specification about what a tool may do: permissions, policies, paths and environment. */
export const PERMISSIONS: { readonly [name: string]: string } = {
  'grants-shape': 'Permissions and resources of a manifest have one shape; the short forms expand to it, and what is not asked for is not given.',
  'grants-refused': 'What is not exact, or more than any tool gets, is refused before start with file, line and a fix.',
  'run-paths': 'Declared inputs of type path mean what they mean in the directory of the caller; everything undeclared passes verbatim.',
  'run-inputs-checked': 'Declared inputs that are missing, of the wrong type or name no file are refused before start.',
  'run-outputs-placed': 'Outputs are made in the workspace and put into their place atomically on success; links are never followed, and a failure places nothing.',
}
