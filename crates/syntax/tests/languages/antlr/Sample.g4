grammar Sample;

// A list of routes.
routes
    : route (',' route)*
    ;

route : NAME '->' NAME ;

NAME : [a-z]+ ;

fragment DIGIT : [0-9] ;
