(definition body: (_) @function.inside) @function.around
(declaration) @parameter.around
(attribute) @parameter.around
(comment) @comment.inside
(comment)+ @comment.around
