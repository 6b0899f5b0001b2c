// The project's own lint rules: imports in src/ follow the arrows of scripts/architecture.mjs, and
// the process is a parameter.
import { dirname, resolve } from 'node:path'
import { explainForbiddenImport } from './architecture.mjs'

/**
 * Refuses an import, a re-export, a dynamic import or an import type that points against the
 * arrows.
 */
export const oneWayImports = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      forbidden: '{{reason}}.',
      self: 'src/ may not import the package by its own name.',
    },
  },
  create(context) {
    const check = (source) => {
      if (source?.type !== 'Literal' || typeof source.value !== 'string') return
      if (/^toolable(\/|$)/.test(source.value)) context.report({ node: source, messageId: 'self' })
      if (!source.value.startsWith('.')) return
      const reason = explainForbiddenImport(
        context.filename,
        resolve(dirname(context.filename), source.value),
      )
      if (reason !== undefined)
        context.report({ node: source, messageId: 'forbidden', data: { reason } })
    }
    return {
      ImportDeclaration: (node) => check(node.source),
      ExportNamedDeclaration: (node) => check(node.source),
      ExportAllDeclaration: (node) => check(node.source),
      ImportExpression: (node) => check(node.source),
      TSImportType: (node) => check(node.source ?? node.argument?.literal),
    }
  },
}

/**
 * Refuses the globals `process` and `console`; `process.getBuiltinModule` only loads a module and
 * is allowed.
 */
export const processIsAParameter = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      global:
        'Take `Io` as a parameter instead of `{{name}}`; the files that may touch the process are listed in scripts/architecture.mjs.',
    },
  },
  create(context) {
    return {
      'Program:exit'(program) {
        const scope = context.sourceCode.getScope(program)
        const globals = [
          ...scope.through,
          ...scope.variables
            .filter(({ defs }) => defs.length === 0)
            .flatMap(({ references }) => references),
        ]
        for (const { identifier } of new Set(globals)) {
          if (isRestricted(identifier))
            context.report({
              node: identifier,
              messageId: 'global',
              data: { name: identifier.name },
            })
        }
      },
      MemberExpression(node) {
        if (node.object.name === 'globalThis' && isProcessName(node.property))
          context.report({
            node,
            messageId: 'global',
            data: { name: `globalThis.${node.property.name}` },
          })
      },
      ImportDeclaration(node) {
        if (/^(node:)?(process|console)$/.test(node.source.value))
          context.report({ node, messageId: 'global', data: { name: node.source.value } })
      },
    }
  },
}

function isRestricted(identifier) {
  const { parent } = identifier
  const isType = parent.type === 'TSTypeQuery' || parent.type === 'TSQualifiedName'
  const isLoader =
    parent.type === 'MemberExpression' &&
    parent.object === identifier &&
    parent.property.name === 'getBuiltinModule'
  return isProcessName(identifier) && !isType && !isLoader
}

function isProcessName({ name }) {
  return name === 'process' || name === 'console'
}
